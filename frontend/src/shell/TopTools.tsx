import { CircleQuestionMark, Globe, Moon, Pause, Play, Sun } from "lucide-react";
import { lazy, Suspense } from "react";
import { IconButton } from "@/components/Button";
import { tip } from "@/components/Tips";
import { useT } from "@/i18n";
import { useConnection } from "@/lib/connection";
import { useNewsState } from "@/lib/events";
import { offsetName, useFormat } from "@/lib/format";
import { setLive, useLive } from "@/lib/live-switch";
import { isDark, setPrefs, usePrefs } from "@/lib/prefs";
import { useShell } from "./context";
import { nextZone } from "./zones";

// Menus are not needed for the first paint.
const DisplayMenu = lazy(() => import("./DisplayMenu"));

export function toggleTheme(): void {
  setPrefs({ theme: isDark() ? "light" : "dark" });
}

/** What is at the right of every page's bar: live, zone, theme and language, help. */
export function TopTools() {
  const t = useT();
  const f = useFormat();
  const live = useLive();
  const state = useNewsState();
  const { lost } = useConnection();
  const [tone, told] = lost
    ? ["bad", t.top.away]
    : state === "open"
      ? ["", t.top.live]
      : ["warn", t.top.polling];
  const prefs = usePrefs();
  const { openHelp } = useShell();
  return (
    <div className="row g1 tools">
      <button
        type="button"
        className="chip hide-s"
        aria-pressed={live}
        onClick={() => setLive(!live)}
        {...tip(live ? t.top.liveTip : t.top.liveOnTip, "L")}
      >
        <span className={`live ${live ? tone : "off"}`} />
        {live ? told : t.top.liveOff}
        {live ? <Pause size={12} aria-hidden /> : <Play size={12} aria-hidden />}
      </button>
      <button
        {...tip(t.top.zone, "Z")}
        type="button"
        className="chip hide-m"
        onClick={() => setPrefs({ zone: nextZone(prefs.zone) })}
      >
        <Globe size={14} aria-hidden />
        {f.zone} <span className="mut">{f.zone === "UTC" ? "" : offsetName(f.zone, Date.now())}</span>
      </button>
      <IconButton icon={isDark() ? Sun : Moon} label={t.top.theme} keys="T" onClick={toggleTheme} />
      <Suspense fallback={<span className="ic" />}>
        <DisplayMenu />
      </Suspense>
      <IconButton
        icon={CircleQuestionMark}
        label={t.top.help}
        keys="?"
        className="hide-s"
        onClick={openHelp}
      />
    </div>
  );
}
