import { Settings2 } from "lucide-react";
import { Menu, MenuChoice, MenuLabel, MenuLine } from "@/components/Menu";
import { usePageT } from "@/i18n";
import { localZone, useLang } from "@/lib/format";
import { setPrefs, usePrefs } from "@/lib/prefs";
import { zones } from "./zones";

/** Language, theme, time zone and keys: what a person chooses for this browser. */
export default function DisplayMenu() {
  const t = usePageT();
  const lang = useLang();
  const prefs = usePrefs();
  return (
    <Menu
      trigger={
        <button type="button" className="ic" aria-label={t.top.settings}>
          <Settings2 size={16} aria-hidden />
        </button>
      }
    >
      <MenuLabel>{t.top.language}</MenuLabel>
      <MenuChoice on={lang === "en"} onSelect={() => setPrefs({ lang: "en" })}>
        English
      </MenuChoice>
      <MenuChoice on={lang === "zh"} onSelect={() => setPrefs({ lang: "zh" })}>
        简体中文
      </MenuChoice>
      <MenuLine />
      <MenuLabel>{t.top.theme}</MenuLabel>
      <MenuChoice on={prefs.theme === "light"} onSelect={() => setPrefs({ theme: "light" })}>
        {t.top.themeLight}
      </MenuChoice>
      <MenuChoice on={prefs.theme === "dark"} onSelect={() => setPrefs({ theme: "dark" })}>
        {t.top.themeDark}
      </MenuChoice>
      <MenuChoice on={prefs.theme === "system"} onSelect={() => setPrefs({ theme: "system" })}>
        {t.top.themeSystem}
      </MenuChoice>
      <MenuLine />
      <MenuLabel>{t.top.zone}</MenuLabel>
      {zones.map((zone) => (
        <MenuChoice key={zone} on={prefs.zone === zone} onSelect={() => setPrefs({ zone })}>
          {zone === "local" ? `${localZone} · ${t.top.myZone}` : zone}
        </MenuChoice>
      ))}
      <MenuLine />
      <MenuChoice on={prefs.letters} onSelect={() => setPrefs({ letters: !prefs.letters })}>
        {t.shortcuts.letters}
      </MenuChoice>
    </Menu>
  );
}
