import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Clock } from "lucide-react";
import type { ReactNode } from "react";
import { type Ancestor, ancestors, parentOf } from "@/api/lineage";
import { childRuns } from "@/api/runs";
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

/** Deeper rows are not moved further to the right. */
const deepest = 6;

/** Why the run is there, and what follows it: its ancestors, itself, and its children. */
export function Lineage({ detail, run, job }: { detail: RunDetail; run: Run; job: JobItem | undefined }) {
  const { t, f } = usePageWords();
  const now = useNow();
  const above = useQuery(ancestors(useQueryClient(), detail)).data;
  const parent = parentOf(detail);
  const parents: Ancestor[] = above ?? (parent ? [{ id: parent, steps: 1 }] : []);
  const ended = detail.attempts[0]?.finished_at;
  const recent = isLiving(detail.status) || (ended !== undefined && now - Date.parse(ended) < settling);
  const followed = useQuery(childRuns(detail.run_id, recent)).data;
  const ran = followed?.items ?? [];
  const without = (job?.definition.children ?? []).filter((c) => !ran.some((r) => r.job === c.job));
  const waiting = isLiving(detail.status) ? without : [];
  if (parents.length === 0 && ran.length + waiting.length === 0) return null;
  const own = Math.max(1, ...parents.map((p) => p.steps));
  return (
    <section>
      <h2>{t.run.lineage}</h2>
      <ul className="lineage">
        {parents.length === 0 && (
          <Row depth={0}>
            <CauseMark cause={run.cause} by={run.by} />
            <span className="right mut num nowrap">{f.short(run.fire_time, now)}</span>
          </Row>
        )}
        {[...parents].reverse().map((p) => (
          <Row key={p.id} depth={own - p.steps}>
            {p.run ? <Status status={p.run.status} bare /> : <Clock size={14} aria-hidden />}
            <Link to="/runs/$runId" params={{ runId: p.id }} className="link trunc">
              {p.run ? <JobTitle job={p.run.job} /> : t.run.parent}
            </Link>
            <span className="right mut nowrap">
              {p.steps > 1 ? t.run.ancestor : detail.rerun_of ? t.run.rerunOf : t.run.parent}
            </span>
          </Row>
        ))}
        <Row depth={own}>
          <Status status={detail.status} bare />
          <b className="trunc">
            <JobTitle job={detail.job} />
          </b>
          <span className="right mut nowrap">{t.run.thisRun}</span>
        </Row>
        {ran.map((r) => (
          <Row key={r.run_id} depth={own + 1}>
            <Status status={r.status} bare />
            <Link to="/runs/$runId" params={{ runId: r.run_id }} className="link trunc">
              <JobTitle job={r.job} />
            </Link>
            <span className="right mut num nowrap">{f.short(r.fire_time, now)}</span>
          </Row>
        ))}
        {followed?.next && (
          <Row depth={own + 1}>
            <span className="mut">{t.run.firstChildren(ran.length)}</span>
          </Row>
        )}
        {waiting.map((c) => (
          <Row key={c.job} depth={own + 1}>
            <Clock size={14} aria-hidden className="mut" />
            <Link to="/jobs/$group/$name" params={refOf(c.job)} className="plain trunc">
              <JobTitle job={c.job} keyed />
            </Link>
            <span className="right mut nowrap">{t.run.after[c.on ?? "success"]}</span>
          </Row>
        ))}
      </ul>
    </section>
  );
}

function Row({ depth, children }: { depth: number; children: ReactNode }) {
  return depth === 0 ? (
    <li>{children}</li>
  ) : (
    <li className="in" style={{ marginLeft: 18 * (Math.min(depth, deepest) - 1) }}>
      {children}
    </li>
  );
}
