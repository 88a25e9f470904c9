import { useMutation, useQuery } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { deleteJob, runJob, saveJob } from "@/api/jobs";
import { cancelRun, runQuery } from "@/api/runs";
import type { Job } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Status } from "@/components/Status";
import { useEditorT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { formatDuration } from "@/lib/duration";
import { writeJson } from "@/lib/exact";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { problemOf } from "@/lib/problem";
import { useSayer } from "@/lib/reason";
import { durationOf, isLiving } from "@/lib/status";
import { LogRow } from "@/pages/run/LogRow";
import { useLog } from "@/pages/run/useLog";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { draftOf } from "./draft";

/** Runs what is in the form once, as a job of its own that goes again with the drawer. */
export function TestRun({ doc }: { doc: Job }) {
  const t = useEditorT();
  const { group } = refOf(doc.job);
  const may = useMay();
  const [draft, setDraft] = useState<Job>();
  const start = () => setDraft(draftOf(doc, t.editor.test.description(doc.job)));
  const able = group !== "" && may("operate", group);
  useKeys({ "mod+enter": () => able && !draft && start() });
  return (
    <div className="row g3 wrap">
      <Button
        icon={FlaskConical}
        may={group === "" || may("operate", group)}
        disabled={!able}
        onClick={start}
      >
        {t.editor.test.run}
      </Button>
      <span className="hint grow">{t.editor.test.hint}</span>
      {draft && <Drawer draft={draft} onClose={() => setDraft(undefined)} />}
    </div>
  );
}

function Drawer({ draft, onClose }: { draft: Job; onClose(): void }) {
  const t = useEditorT();
  const { say, sayProblem } = useSayer();
  const w = t.editor.test;
  const saving = useRef<Promise<unknown>>(undefined);
  const begin = useMutation({
    mutationFn: async () => {
      saving.current = saveJob(draft, { etag: undefined, note: w.note });
      await saving.current;
      return runJob(refOf(draft.job), draft.params, undefined, "test");
    },
  });
  const { mutate } = begin;
  const begun = useRef(false);
  const there = useRef(false);
  useEffect(() => {
    // Its history stays; only the job goes, however the drawer is left. Should this fail, the job
    // stays, manual, and says what it was.
    const forget = () => void saving.current?.then(() => deleteJob(refOf(draft.job))).catch(() => undefined);
    there.current = true;
    if (!begun.current) mutate(); // StrictMode mounts twice; a job is made once
    begun.current = true;
    window.addEventListener("pagehide", forget);
    return () => {
      window.removeEventListener("pagehide", forget);
      there.current = false;
      queueMicrotask(() => !there.current && forget());
    };
  }, [mutate, draft.job]);
  const problem = begin.error ? problemOf(begin.error) : undefined;
  return (
    <Dialog title={w.title} hint={<code className="mono">{draft.job}</code>} open drawer onClose={onClose}>
      {problem && (
        <div className="errbox" role="alert">
          <ul>
            {problem.errors?.map((x) => (
              <li key={x.field}>
                <code>{x.field}</code> {say(x.reason)}
              </li>
            )) ?? <li>{sayProblem(problem)}</li>}
          </ul>
        </div>
      )}
      {begin.isPending && <p className="sec">{w.starting}</p>}
      {begin.data && <Output runId={begin.data.run_id} job={draft.job} />}
    </Dialog>
  );
}

/** The most lines that a test shows: the newest. */
const shown = 2000;

function Output({ runId, job }: { runId: string; job: string }) {
  const t = useEditorT();
  const { say } = useSayer();
  const f = useFormat();
  const w = t.editor.test;
  const detail = useQuery(runQuery(runId)).data;
  const run = detail?.attempts[0];
  const log = useLog(runId, 1, job);
  const end = useRef<HTMLDivElement>(null);
  const lines = log.buffer.lines.slice(-shown);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each drawing of new lines follows the end
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [log.version]);
  const living = !detail || isLiving(detail.status);
  // What a short run printed comes after its end.
  const waits = living || log.state !== "ended";
  const took = run && durationOf(run, serverNow());
  return (
    <>
      <div className="row g3">
        <span role="status">
          <Status status={detail?.status ?? "pending"} pill />
        </span>
        {took !== undefined && !living && <b className="num">{formatDuration(took)}</b>}
        {run?.exit_code !== undefined && <span className="mut num">exit {run.exit_code}</span>}
        <span className="right">
          {living && (
            <Button
              small
              look="danger"
              onClick={() => void cancelRun(runId, job, w.note).catch(() => undefined)}
            >
              {t.act.cancelRun}
            </Button>
          )}
        </span>
      </div>
      {run?.message && <div className="errbox">{say(run.message)}</div>}
      {run?.result !== undefined && run.result !== null && (
        <pre className="jsonbox" tabIndex={0}>
          {typeof run.result === "string" ? run.result : writeJson(run.result, 2)}
        </pre>
      )}
      <div className="testlog logrows" role="log" aria-live="off" aria-label={t.run.log} tabIndex={0}>
        {lines.map((line) => (
          <LogRow
            key={line.seq}
            line={line}
            time={f.millis(line.at)}
            onLink={() => undefined}
            onWhole={() => undefined}
          />
        ))}
        {lines.length === 0 && <p className="mut pad-y">{waits ? t.run.waitingLog : t.run.noLog}</p>}
        <div ref={end} />
      </div>
    </>
  );
}
