import { Link } from "@tanstack/react-router";
import { CirclePause } from "lucide-react";
import type { JobItem } from "@/api/schema.gen";
import { Mark, Status } from "@/components/Status";
import { Ago, Elapsed } from "@/components/Time";
import { tip } from "@/components/Tips";
import { ZonedClock } from "@/components/ZonedClock";
import { usePageT } from "@/i18n";
import { useFormat, usePageWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { pauseOf } from "@/lib/pause";
import { useSayer } from "@/lib/reason";
import { beganAt } from "@/lib/status";
import { kindOf, zoneOf } from "@/lib/words";
import { useHeld } from "@/shell/useHeld";

/** How and when a job ran last, or since when it is running. */
export function LastRun({ item }: { item: JobItem }) {
  const { t } = usePageWords();
  const last = item.last_runs?.[0];
  if (!last) return <span className="mut">{item.last_runs ? t.joblist.never : "—"}</span>;
  const began = beganAt(last);
  return (
    <span className="jn">
      <Link to="/runs/$runId" params={{ runId: last.run_id }} className="plain">
        <Status status={last.status} />
      </Link>
      <span className="indent">
        {last.status === "running" && began ? <Elapsed since={began} /> : <Ago at={last.fire_time} />}
      </span>
    </span>
  );
}

/** When a job fires next, or why it does not. */
export function NextFire({ item }: { item: JobItem }) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const held = useHeld();
  const { say } = useSayer();
  const d = item.definition;
  const pause = pauseOf(d, now);
  if (pause) {
    return (
      <span {...tip(t.joblist.pausedBy(d.author ?? t.state.none, say(item.pause_reason) || (d.note ?? "")))}>
        <Mark tone="warn" icon={CirclePause}>
          {pause.until ? t.pause.pausedUntil(f.short(pause.until, now)) : t.state.paused}
        </Mark>
      </span>
    );
  }
  const next = item.next_fires[0];
  if (next) {
    const off = next.skipped || held(next.due);
    return (
      <span className="jn" {...(off && tip(say(next.reason) || t.pause.wouldSkipHint))}>
        <span className="main-line">{off ? t.pause.wouldSkip : <Ago at={next.due} />}</span>
        <ZonedClock
          at={next.due}
          zone={zoneOf(d.schedule)}
          write={(of) =>
            (Date.parse(next.due) % 60_000 === 0 && of.day(next.due) === of.day(now) ? of.minute : of.short)(
              next.due,
              now,
            )
          }
          className={off ? "num struck" : "num"}
        />
      </span>
    );
  }
  const kind = kindOf(d.schedule);
  if (kind === "manual") return <span className="mut">{t.state.manual}</span>;
  if (kind === "fixed_delay") return <span className="mut">—</span>; // not before the run in flight has ended
  return <span className="mut">{t.state.ended}</span>;
}
