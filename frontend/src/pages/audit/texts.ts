import { usePage } from "@/i18n";
import { audit as en } from "@/i18n/en/audit";
import { audit as zh } from "@/i18n/zh/audit";

const texts = { en: { audit: en }, zh: { audit: zh } };

export const useAuditT = () => usePage(texts);
