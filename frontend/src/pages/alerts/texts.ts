import { usePage } from "@/i18n";
import { alerts as en } from "@/i18n/en/alerts";
import { alerts as zh } from "@/i18n/zh/alerts";

const texts = { en: { alerts: en }, zh: { alerts: zh } };

export const useAlertT = () => usePage(texts);
