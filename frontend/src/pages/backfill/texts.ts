import { usePage } from "@/i18n";
import { backfill as enBackfill } from "@/i18n/en/backfill";
import { ledger as enLedger } from "@/i18n/en/ledger";
import { backfill as zhBackfill } from "@/i18n/zh/backfill";
import { ledger as zhLedger } from "@/i18n/zh/ledger";

const texts = {
  en: { backfill: enBackfill, ledger: enLedger },
  zh: { backfill: zhBackfill, ledger: zhLedger },
};

export const useBackfillT = () => usePage(texts);
