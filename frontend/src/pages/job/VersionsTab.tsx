import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { RotateCcw } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { refreshJobs, saveJob, versionsQuery } from "@/api/jobs";
import { jobReport } from "@/api/reports";
import type { JobItem, JobVersion, ReportRow } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { TextField } from "@/components/fields";
import { Card } from "@/components/Panel";
import { Ago } from "@/components/Time";
import { toast } from "@/components/Toasts";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { definitionOf, withoutPause } from "@/lib/jobdoc";
import { refOf } from "@/lib/jobref";
import { changedFields } from "@/lib/merge";
import { useNow } from "@/lib/now";
import { lastDays } from "@/lib/ranges";
import { useComplain } from "@/shell/actions";
import { Difference } from "./Difference";

const GraphDifference = lazy(() => import("./GraphDifference"));

/** What a job was, version by version: what each changed, and a way back. */
export default function VersionsTab({ item, etag }: { item: JobItem; etag: string }) {
  const t = usePageT();
  const v = t.job.versions;
  const navigate = useNavigate();
  const ref = refOf(item.definition.job);
  const list = useQuery(versionsQuery(ref));
  const { v: wanted } = useSearch({ strict: false });
  const [restoring, setRestoring] = useState<JobVersion>();
  const versions = list.data?.items ?? [];
  const range = lastDays(useNow(), 30);
  const rows = useQuery(jobReport(item.definition.job, range, { by: ["job", "version"] })).data?.items ?? [];
  const runs = new Map(rows.map((row) => [row.version, row]));
  const slowest = Math.max(...rows.map((row) => row.duration.p95_ms));
  const chosen = versions.find((x) => x.version === wanted) ?? versions[0];
  const before = chosen && versions.find((x) => x.version < chosen.version);
  const choose = (version: number) =>
    void navigate({
      to: "/jobs/$group/$name/$tab",
      params: { ...ref, tab: "versions" },
      search: { v: version },
      replace: true,
    });
  const summary = (was: JobVersion | undefined, is: JobVersion) => {
    if (is.deleted || !was || was.deleted) return "";
    const fields = changedFields(definitionOf(was), definitionOf(is));
    return fields.length === 0 ? v.alikeAll : fields.join(", ");
  };
  if (!list.data) return <Waiting on={list} />;
  return (
    <div className="pad versions">
      <Card>
        <ul className="vlist">
          {versions.map((x, i) => (
            <li key={x.version}>
              <button type="button" aria-pressed={x === chosen} onClick={() => choose(x.version)}>
                <span className="row g2">
                  <b className="num">v{x.version}</b>
                  {x.version === item.definition.version && <span className="tag">{v.current}</span>}
                  {x.deleted && <span className="tag">{v.deleted}</span>}
                  <span className="right mut">
                    <Ago at={x.effective_from} />
                  </span>
                </span>
                <span className="mut trunc">
                  {[x.author || v.nobody, x.note].filter(Boolean).join(" · ")}
                </span>
                <span className="mut trunc">{summary(versions[i + 1], x)}</span>
                <RunsOf row={runs.get(x.version)} slowest={slowest} />
              </button>
            </li>
          ))}
        </ul>
      </Card>
      {chosen && (
        <Card
          title={before ? `v${before.version} → v${chosen.version}` : `v${chosen.version}`}
          note={chosen.note}
          aside={
            chosen.version !== item.definition.version &&
            !chosen.deleted && (
              <Button small icon={RotateCcw} onClick={() => setRestoring(chosen)}>
                {v.restore}
              </Button>
            )
          }
        >
          <div className="b">
            {before && (before.steps || chosen.steps) && (
              <Suspense>
                <GraphDifference before={before} after={chosen} />
              </Suspense>
            )}
            <Difference before={before} after={chosen} />
          </div>
        </Card>
      )}
      {restoring && (
        <Restore
          current={item.definition}
          version={restoring}
          etag={etag}
          onClose={() => setRestoring(undefined)}
        />
      )}
    </div>
  );
}

/** How the runs of a version went, and how long they took beside those of the slowest: where it got worse is seen. */
function RunsOf({ row, slowest }: { row: ReportRow | undefined; slowest: number }) {
  const { t, f } = usePageWords();
  if (!row || row.attempts === 0) return null;
  const share = slowest === 0 ? 0 : row.duration.p95_ms / slowest;
  return (
    <span className="row g2">
      <span className="bar dur" aria-hidden>
        <i className={row.failure_ratio > 0 ? "b-bad" : "b-ok"} style={{ width: `${share * 100}%` }} />
      </span>
      <span className={row.failure_ratio > 0 ? "c-bad" : "mut"}>
        {t.job.versions.runs(row.runs, f.percent(row.failure_ratio), formatDuration(row.duration.p95_ms))}
      </span>
    </span>
  );
}

interface RestoreProps {
  current: JobVersion;
  version: JobVersion;
  etag: string;
  onClose(): void;
}

/** Makes an old version the newest, after a look at what that changes. */
function Restore({ current, version, etag, onClose }: RestoreProps) {
  const t = usePageT();
  const client = useQueryClient();
  const complain = useComplain();
  const [note, setNote] = useState(t.job.versions.restoreNote(version.version));
  const save = useMutation({
    mutationFn: () => saveJob(withoutPause(definitionOf(version)), { etag, note }),
    onError: complain,
    onSuccess: (saved) => {
      toast({ text: t.done.saved(version.job, saved.definition.version) });
      void refreshJobs(client);
      onClose();
    },
  });
  return (
    <Dialog
      title={t.job.versions.restoreAsk(version.version)}
      hint={t.job.versions.restoreHint}
      open
      wide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button look="primary" busy={save.isPending} onClick={() => save.mutate()}>
            {t.job.versions.restore}
          </Button>
        </>
      }
    >
      <TextField label={t.job.versions.note} optional value={note} maxLength={500} onChange={setNote} />
      <Difference before={current} after={version} />
    </Dialog>
  );
}
