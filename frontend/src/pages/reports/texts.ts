import { usePage } from "@/i18n";
import { reports as en } from "@/i18n/en/reports";
import { reports as zh } from "@/i18n/zh/reports";

const texts = { en: { reports: en }, zh: { reports: zh } };

export const useReportsT = () => usePage(texts);
