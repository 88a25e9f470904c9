import { usePage } from "@/i18n";
import { policies as en } from "@/i18n/en/policies";
import { policies as zh } from "@/i18n/zh/policies";

const texts = { en: { policies: en }, zh: { policies: zh } };

/** The console's texts with those of policies. */
export const usePolicyT = () => usePage(texts);
