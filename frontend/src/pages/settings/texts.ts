import { usePage } from "@/i18n";
import { settings as en } from "@/i18n/en/settings";
import { settings as zh } from "@/i18n/zh/settings";

const texts = { en: { settings: en }, zh: { settings: zh } };

export const useSettingsT = () => usePage(texts);
