import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clock } from "lucide-react";
import { childRuns, runQuery } from "@/api/runs";
import type { JobItem, Run, RunDetail } from "@/api/schema.gen";
import { CauseMark } from "@/components/CauseIcon";
import { JobTitle } from "@/components/JobTitle";
import { Status } from "@/components/Status";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { isLiving } from "@/lib/status";

/** What was done in the last minute may still have children that the history does not know. */
const settling = 60_000;

/** Why the run is there, and what follows it: its parent, itself, and its children. */
export function Lineage({ detail, run, job }: { detail: RunDetail; run: Run; job: JobItem | undefined }) {
  const { t, f } = usePageWords();
  const now = useNow();
  const parentId = detail.rerun_of ?? run.parent_run_id;
  const parent = useQuery({ ...runQuery(parentId ?? ""), enabled: parentId !== undefined }).data;
  const ended = detail.attempts[0]?.finished_at;
  const recent = isLiving(detail.status) || (ended !== undefined && now - Date.parse(ended) < settling);
  const ran = useQuery(childRuns(detail.run_id, recent)).data?.items ?? [];
  const definition = job?.definition;
  const waiting = (definition?.children ?? []).filter(
    (c) => isLiving(detail.status) && !ran.some((r) => r.job === c.job),
  );
  if (!parentId && ran.length === 0 && waiting.length === 0) return null;
  return (
    <section>
      <h2>{t.run.lineage}</h2>
      <ul className="lineage">
        <li>
          {parentId ? (
            <>
              {parent ? <Status status={parent.status} bare /> : <Clock size={14} aria-hidden />}
              <Link to="/runs/$runId" params={{ runId: parentId }} className="link trunc">
                {parent ? <JobTitle job={parent.job} /> : t.run.parent}
              </Link>
              <span className="right mut nowrap">{detail.rerun_of ? t.run.rerunOf : t.run.parent}</span>
            </>
          ) : (
            <>
              <CauseMark cause={run.cause} by={run.by} />
              <span className="right mut num nowrap">{f.short(run.fire_time, now)}</span>
            </>
          )}
        </li>
        <li className="in1">
          <Status status={detail.status} bare />
          <b className="trunc">
            <JobTitle job={detail.job} />
          </b>
          <span className="right mut nowrap">{t.run.thisRun}</span>
        </li>
        {ran.map((r) => (
          <li key={r.run_id} className="in2">
            <Status status={r.status} bare />
            <Link to="/runs/$runId" params={{ runId: r.run_id }} className="link trunc">
              <JobTitle job={r.job} />
            </Link>
            <span className="right mut num nowrap">{f.short(r.fire_time, now)}</span>
          </li>
        ))}
        {waiting.map((c) => (
          <li key={c.job} className="in2">
            <Clock size={14} aria-hidden className="mut" />
            <Link to="/jobs/$group/$name" params={refOf(c.job)} className="plain trunc">
              <JobTitle job={c.job} keyed />
            </Link>
            <span className="right mut nowrap">{t.run.after[c.on ?? "success"]}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
