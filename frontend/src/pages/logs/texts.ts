import { usePage } from "@/i18n";
import { logs as en } from "@/i18n/en/logs";
import { logs as zh } from "@/i18n/zh/logs";

const texts = { en: { logs: en }, zh: { logs: zh } };

export const useLogsT = () => usePage(texts);
