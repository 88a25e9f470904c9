import { useQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import { groupsQuery } from "@/api/cluster";
import { fireCounts } from "@/api/schedule";
import type { Schedule } from "@/api/schema.gen";
import { useEditorT } from "@/i18n";
import { withMinute } from "@/lib/cron";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { quieterMinute } from "./quieter";

const [minute, quarter, hour, day] = [60_000, 900_000, 3_600_000, 86_400_000];

interface AroundProps {
  /** When the next fire is due. */
  at: string;
  group: string | undefined;
  zone: string;
  schedule: Schedule;
  /** The schedule is the one that is saved: then its own fires are among those that are counted. */
  isSaved: boolean;
  onChange(schedule: Schedule): void;
}

/** What else fires within the day of a fire, by quarter of an hour, and where there is more room. */
export function Around({ at, group, zone, schedule, isSaved, onChange }: AroundProps) {
  const t = useEditorT();
  const f = useFormat().in(zone);
  const now = useNow();
  const from = Math.floor(now / quarter) * quarter;
  const counts = useQuery(fireCounts(range(from, day, group), 96, `around ${from}`)).data;
  if (!counts) return null;
  const most = Math.max(1, ...counts.counts);
  const total = counts.counts.reduce((a, b) => a + b, 0);
  const mark = Math.floor((Date.parse(at) - from) / quarter);
  return (
    <section>
      <h2>{t.editor.load}</h2>
      <svg viewBox="0 0 288 56" className="around" role="img" aria-label={t.editor.perDay(total)}>
        {counts.counts.map((n, i) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a quarter is its number
            key={i}
            x={i * 3}
            y={54 - Math.max(n > 0 ? 3 : 1, (n / most) * 50)}
            width={2}
            height={Math.max(n > 0 ? 3 : 1, (n / most) * 50)}
            className={i === mark ? "here" : undefined}
          />
        ))}
        {mark >= 0 && mark < 96 && <rect x={mark * 3} y={0} width={2} height={54} className="here" />}
      </svg>
      <div className="row axis-row mut num">
        {[0, 24, 48, 72].map((i) => (
          <span key={i}>{f.minute(from + i * quarter)}</span>
        ))}
      </div>
      <p className="mut">
        {group && `${group}: `}
        {t.editor.perDay(total)}
      </p>
      <Quieter at={at} group={group} zone={zone} schedule={schedule} isSaved={isSaved} onChange={onChange} />
    </section>
  );
}

/** Says that many jobs fire at the same time, and offers a minute of that hour at which few do. */
function Quieter({ at, group, zone, schedule, isSaved, onChange }: AroundProps) {
  const t = useEditorT();
  const f = useFormat().in(zone);
  const due = Date.parse(at);
  const own = Number(f.minute(due).slice(3));
  // The hour as the zone's clocks show it: not all are whole hours away from UTC.
  const begins = Math.floor(due / minute) * minute - own * minute;
  const movable = schedule.cron !== undefined && withMinute(schedule.cron, own) !== undefined;
  const { data } = useQuery({
    ...fireCounts(range(begins, hour, group), 60, `hour ${begins}`),
    enabled: movable && !schedule.spread,
  });
  const slots = (useQuery(groupsQuery).data?.items ?? [])
    .filter((g) => g.executor_group === group)
    .flatMap((g) => g.instances)
    .filter((i) => i.state === "online")
    .reduce((n, i) => n + i.slots, 0);
  if (!movable || !data || data.counts.length !== 60) return null;
  const found = quieterMinute(data.counts, own, isSaved ? 1 : 0);
  const moved = found && withMinute(schedule.cron ?? "", found.minute);
  if (!found || !moved) return null;
  const there = f.minute(begins + found.minute * minute);
  const e = t.editor.quieter;
  return (
    <div className="note quieter">
      <Sparkles size={15} aria-hidden />
      <span>
        {group ? e.crowdedIn(found.here, f.minute(due), group) : e.crowded(found.here, f.minute(due))}
        {slots > 0 && ` ${e.slots(slots)}`} {e.there(there, found.there)}
        <button type="button" className="link" onClick={() => onChange({ ...schedule, cron: moved })}>
          {e.use(there)}
        </button>
      </span>
    </div>
  );
}

/** A range whose parts begin with their instants: the server's begin just after them. */
function range(from: number, length: number, group: string | undefined) {
  return { from: new Date(from - 1).toISOString(), to: new Date(from + length - 1).toISOString(), group };
}
