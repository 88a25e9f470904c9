import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { comparedQuery, runQuery } from "@/api/runs";
import type { Run, RunDetail } from "@/api/schema.gen";
import { Dialog } from "@/components/Dialog";
import { Skeleton } from "@/components/Panel";
import { Status } from "@/components/Status";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { delayOf, durationOf, wholeOf } from "@/lib/status";

const DiffView = lazy(() => import("@/components/code/DiffView"));

interface CompareDialogProps {
  detail: RunDetail;
  run: Run;
  onClose(): void;
}

/** A run beside another one of its job: at first the last that succeeded. */
export default function CompareDialog({ detail, run, onClose }: CompareDialogProps) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const c = t.run.compare;
  const now = useNow();
  const others = useQuery(comparedQuery(detail)).data;
  const [chosen, setChosen] = useState<string>();
  const id = chosen ?? others?.good ?? others?.all[0]?.run_id;
  const other = useQuery({ ...runQuery(id ?? ""), enabled: id !== undefined }).data;
  const beside = other && wholeOf(other.attempts);
  const took = (r: Run) => {
    const ms = durationOf(r, now);
    return ms === undefined ? "—" : formatDuration(ms);
  };
  const late = (r: Run) => {
    const ms = delayOf(r);
    return ms === undefined ? "—" : formatDuration(ms);
  };
  const facts: [string, (r: Run) => ReactNode][] = [
    [c.status, (r) => <Status status={r.status} />],
    [t.run.fireTime, (r) => f.short(r.fire_time, now)],
    [t.runs.columns.delay, late],
    [t.runs.columns.duration, took],
    [t.run.version, (r) => `v${r.version}`],
    [t.run.executor, (r) => r.instance ?? "—"],
    [t.runs.columns.attempt, (r) => f.number(r.attempt)],
    [t.run.exitCode, (r) => r.exit_code ?? "—"],
    [c.lines, (r) => f.number(r.log_lines ?? 0)],
    [c.error, (r) => <span className="wraps">{say(r.message ?? r.reason) || "—"}</span>],
  ];
  const params = (d: RunDetail | undefined) =>
    d?.params === undefined ? "" : JSON.stringify(d.params, null, 2);
  return (
    <Dialog title={c.title} open wide onClose={onClose}>
      {!others ? (
        <Skeleton rows={6} />
      ) : id === undefined ? (
        <p className="mut">{c.none}</p>
      ) : (
        <>
          <label className="f">
            <span className="lab">{c.other}</span>
            <span className="inp">
              <select value={id} onChange={(e) => setChosen(e.target.value)}>
                {others.all.map((r) => (
                  <option key={r.run_id} value={r.run_id}>
                    {[
                      shortId(r.run_id),
                      f.short(r.fire_time, now),
                      t.status[r.status],
                      r.run_id === others.good && c.lastSuccess,
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </option>
                ))}
              </select>
            </span>
          </label>
          {beside ? (
            <table className="tbl c compare">
              <thead>
                <tr>
                  <th>
                    <span className="sr">{t.run.details}</span>
                  </th>
                  <th>{c.thisOne}</th>
                  <th>
                    <Link to="/runs/$runId" params={{ runId: id }} className="link mono" onClick={onClose}>
                      {shortId(id)}
                    </Link>
                  </th>
                </tr>
              </thead>
              <tbody>
                {facts.map(([name, of]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>{of(run)}</td>
                    <td>{of(beside)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          ) : (
            <Skeleton rows={8} />
          )}
          {other &&
            (params(other) === params(detail) ? (
              <p className="mut">{c.same}</p>
            ) : (
              <Suspense fallback={<Skeleton rows={4} />}>
                <DiffView
                  label={t.run.params}
                  before={params(other)}
                  after={params(detail)}
                  language="json"
                />
              </Suspense>
            ))}
        </>
      )}
    </Dialog>
  );
}
