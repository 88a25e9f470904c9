import { usePage } from "@/i18n";
import { bus as en } from "@/i18n/en/bus";
import { bus as zh } from "@/i18n/zh/bus";

const texts = { en: { bus: en }, zh: { bus: zh } };

/** The console's texts with those of what the cluster stands on. */
export const useClusterT = () => usePage(texts);
