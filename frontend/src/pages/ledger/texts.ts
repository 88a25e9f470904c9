import { usePage } from "@/i18n";
import { ledger as en } from "@/i18n/en/ledger";
import { ledger as zh } from "@/i18n/zh/ledger";

const texts = { en: { ledger: en }, zh: { ledger: zh } };

export const useLedgerT = () => usePage(texts);
