import { usePage } from "@/i18n";
import { retention as enRetention } from "@/i18n/en/retention";
import { settings as en } from "@/i18n/en/settings";
import { retention as zhRetention } from "@/i18n/zh/retention";
import { settings as zh } from "@/i18n/zh/settings";

const texts = {
  en: { settings: en, retention: enRetention },
  zh: { settings: zh, retention: zhRetention },
};

export const useSettingsT = () => usePage(texts);
