import { usePage } from "@/i18n";
import { fleet as enFleet } from "@/i18n/en/fleet";
import { secrets as enSecrets } from "@/i18n/en/secrets";
import { fleet as zhFleet } from "@/i18n/zh/fleet";
import { secrets as zhSecrets } from "@/i18n/zh/secrets";

const texts = { en: { fleet: enFleet, secrets: enSecrets }, zh: { fleet: zhFleet, secrets: zhSecrets } };

/** The console's texts with those of executors and their secrets. */
export const useFleetT = () => usePage(texts);
