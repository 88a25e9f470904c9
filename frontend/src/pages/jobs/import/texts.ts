import { usePage } from "@/i18n";
import { importing as en } from "@/i18n/en/importing";
import { importing as zh } from "@/i18n/zh/importing";

const texts = { en: { importing: en }, zh: { importing: zh } };

export const useImportT = () => usePage(texts);
