import { useQuery } from "@tanstack/react-query";
import { calendarPreview } from "@/api/cluster";
import type { Calendar } from "@/api/schema.gen";
import { JobTitle } from "@/components/JobTitle";
import { Refusal } from "@/components/Refusal";
import { useSettled } from "@/components/useSettled";
import { usePageT } from "@/i18n";
import { instantToWall, isZone } from "@/lib/format";

const shownJobs = 20;

/** Which fires saving a calendar would affect, a moment after its last change. */
export function AffectedFires({ calendar }: { calendar: Calendar }) {
  const c = usePageT().calendars;
  const settled = useSettled(calendar, 300);
  const query = useQuery(calendarPreview(settled));
  const p = query.data;
  const zone = settled.zone && isZone(settled.zone) ? settled.zone : "UTC";
  const jobs = p?.jobs.filter((j) => j.skipped + j.released > 0) ?? [];
  return (
    <section className="f affected" aria-label={c.affected} aria-busy={query.isFetching}>
      <span className="lab">{c.affected}</span>
      {query.isError ? (
        <Refusal error={query.error} />
      ) : (
        p && (
          <>
            <p className={jobs.length > 0 ? "row g2 wrap" : "sec"}>
              {jobs.length === 0 && c.affectsNone(p.jobs.length)}
              {p.skipped > 0 && <span className="c-warn">{c.willSkip(p.skipped)}</span>}
              {p.released > 0 && <span className="c-ok">{c.willRun(p.released)}</span>}
            </p>
            {!p.complete && <p className="c-warn">{c.tooMany}</p>}
            {jobs.length > 0 && (
              <ul className="names">
                {jobs.slice(0, shownJobs).map((j) => (
                  <AffectedJob key={j.job} job={j} zone={zone} />
                ))}
              </ul>
            )}
            {jobs.length > shownJobs && <p className="mut">{c.more(jobs.length - shownJobs)}</p>}
          </>
        )
      )}
    </section>
  );
}

interface AffectedJobProps {
  job: { job: string; skipped: number; released: number; fires: { fire_time: string; skipped: boolean }[] };
  /** Of the calendar. */
  zone: string;
}

function AffectedJob({ job: j, zone }: AffectedJobProps) {
  const c = usePageT().calendars;
  const first = (skipped: boolean) =>
    j.fires
      .filter((f) => f.skipped === skipped)
      .map((f) => instantToWall(f.fire_time, zone).replace("T", " "));
  return (
    <li>
      <JobTitle job={j.job} keyed className="grow trunc" />
      <span className="row g2 end">
        {j.skipped > 0 && <span className="c-warn">{c.willSkip(j.skipped)}</span>}
        {j.released > 0 && <span className="c-ok">{c.willRun(j.released)}</span>}
      </span>
      <Firsts word={c.skips} at={first(true)} of={j.skipped} />
      <Firsts word={c.runs} at={first(false)} of={j.released} />
    </li>
  );
}

/** The first of some fires, and whether there are more. */
function Firsts({ word, at, of }: { word: string; at: string[]; of: number }) {
  if (at.length === 0) return null;
  return (
    <p className="mut num">
      {word}: {at.join(", ")}
      {of > at.length && " …"}
    </p>
  );
}
