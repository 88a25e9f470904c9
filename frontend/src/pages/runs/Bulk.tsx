import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  BookmarkCheck,
  CircleCheck,
  CircleX,
  Copy,
  GitCompare,
  type LucideIcon,
  OctagonX,
  RotateCcw,
  X,
} from "lucide-react";
import { useState } from "react";
import { changeRuns, type RunFilter, runQuery, runsKey } from "@/api/runs";
import type { Run, RunBulk, RunBulkItem } from "@/api/schema.gen";
import { BulkDialog } from "@/components/BulkDialog";
import { copyText } from "@/components/Copy";
import { Check, TextField } from "@/components/fields";
import { Skeleton } from "@/components/Panel";
import { SegmentsField } from "@/components/Segments";
import { Status } from "@/components/Status";
import { toast } from "@/components/Toasts";
import { usePageWords } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { useSayer } from "@/lib/reason";
import { useComplain } from "@/shell/actions";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";

type Action = RunBulk["action"];

const actions: { action: Action; icon: LucideIcon }[] = [
  { action: "rerun", icon: RotateCcw },
  { action: "cancel", icon: OctagonX },
  { action: "mark", icon: BookmarkCheck },
];

/** So many runs are changed by one request, and listed in a review. */
const atOnce = 100;
const listed = 20;

interface BulkProps {
  runs: Run[];
  chosen: ReadonlySet<string>;
  /** What the list is narrowed to; with it, all runs that match can be meant. */
  filter: RunFilter;
  /** How many fires match the filter. */
  matching: number;
  onClear(): void;
}

/** Two runs of one job, the newer first: these can be compared. */
function pairOf([newer, older, ...more]: Run[]): [string, string] | undefined {
  if (!newer || !older || more.length > 0 || newer.job !== older.job) return undefined;
  return newer.fire_time >= older.fire_time ? [newer.run_id, older.run_id] : [older.run_id, newer.run_id];
}

/** What can be done to several runs at once, after a look at what it would do. */
export function Bulk({ runs, chosen, filter, matching, onClear }: BulkProps) {
  const { t } = usePageWords();
  const w = t.runlist.bulk;
  const operates = useMay()("operate");
  const [all, setAll] = useState(false);
  const [action, setAction] = useState<Action>();
  const [looked, setLooked] = useState<RunBulkItem[]>();
  const complain = useComplain();
  useKeys({ escape: onClear });
  // The server is asked what it would do with each: it knows more than the list does.
  const review = async (next: Action) => {
    setAction(next);
    setLooked(undefined);
    const body = {
      action: next,
      ...(next === "mark" ? { as: "handled" as const, note: "?" } : {}),
      dry_run: true,
    };
    try {
      const items: RunBulkItem[] = [];
      if (!all) items.push(...(await changeRuns({ ...body, runs: [...chosen] })).items);
      for (let cursor: string | undefined, more = all; more; more = cursor !== undefined) {
        const page = await changeRuns({ ...body, filter, cursor });
        items.push(...page.items);
        cursor = page.next;
      }
      setLooked(items);
    } catch (error) {
      setAction(undefined);
      complain(error);
    }
  };
  const n = all ? matching : chosen.size;
  const pair = all ? undefined : pairOf(runs.filter((r) => chosen.has(r.run_id)));
  return (
    <>
      <div className="bulk" role="toolbar" aria-label={w.selected(n)}>
        <span className="num">{w.selected(n)}</span>
        {!all && matching > chosen.size && (
          <button type="button" className="soft" onClick={() => setAll(true)}>
            {w.allMatching(matching)}
          </button>
        )}
        <i />
        {pair && (
          <Link
            to="/runs/$runId/compare"
            params={{ runId: pair[0] }}
            search={{ to: pair[1] }}
            className="soft"
          >
            <GitCompare size={15} aria-hidden />
            {t.run.compare.short}
          </Link>
        )}
        {actions.map(({ action: one, icon: Icon }) => (
          <button
            key={one}
            type="button"
            className={one === "cancel" ? "bad" : undefined}
            disabled={!operates}
            title={operates ? undefined : t.signIn.needs}
            onClick={() => void review(one)}
          >
            <Icon size={15} aria-hidden />
            {w.verbs[one]}
          </button>
        ))}
        <button
          type="button"
          onClick={() => void copyText([...chosen].join("\n")).then(() => toast({ text: t.act.copied }))}
        >
          <Copy size={15} aria-hidden />
          {w.copyIds}
        </button>
        <i />
        <button type="button" aria-label={t.act.clear} onClick={onClear}>
          <X size={15} aria-hidden />
        </button>
      </div>
      {action && (
        <Review
          action={action}
          looked={looked}
          known={runs}
          onClose={() => setAction(undefined)}
          onDone={onClear}
        />
      )}
    </>
  );
}

interface ReviewProps {
  action: Action;
  /** What the server says it would do; undefined while it is asked. */
  looked: RunBulkItem[] | undefined;
  known: Run[];
  onClose(): void;
  onDone(): void;
}

/** What became of a run, or would. */
interface Result {
  run_id: string;
  job?: string | undefined;
  /** The run that does it again. */
  again?: string | undefined;
  /** The run that has done it again before. */
  before?: string | undefined;
  error?: string | undefined;
}

function Review({ action, looked, known, onClose, onDone }: ReviewProps) {
  const { t, f } = usePageWords();
  const { sayError, sayProblem } = useSayer();
  const w = t.runlist.bulk;
  const client = useQueryClient();
  const [note, setNote] = useState("");
  const [as, setAs] = useState<"handled" | "succeeded">("handled");
  const [version, setVersion] = useState<"latest" | "same">("latest");
  const [typed, setTyped] = useState("");
  /** What was run again before is run once more. */
  const [twice, setTwice] = useState(false);
  const [results, setResults] = useState<Result[]>();
  const resultOf = ({ run_id, job, rerun_run_id, reran_as, problem }: RunBulkItem): Result => ({
    run_id,
    job,
    again: rerun_run_id,
    before: reran_as,
    error: problem && sayProblem(problem),
  });
  const items = looked?.map(resultOf) ?? [];
  const repeated = items.filter((x) => !x.error && x.before);
  const affected = items.filter((x) => !x.error && (twice || !x.before));
  const refused = items.filter((x) => x.error);
  const busy = results !== undefined && results.length < affected.length;
  const done = results !== undefined && !busy;
  const word = String(affected.length);
  // Who means more than a page says how many they are.
  const mustType = affected.length > atOnce;
  const start = async () => {
    const all: Result[] = [];
    setResults([]);
    for (let from = 0; from < affected.length; from += atOnce) {
      const some = affected.slice(from, from + atOnce).map((x) => x.run_id);
      const change: RunBulk = { action, runs: some };
      if (action === "mark") Object.assign(change, { as, note: note.trim() });
      else if (action === "rerun") change.version = version;
      else if (note.trim() !== "") change.note = note.trim();
      const items = await changeRuns(change).then(
        (answer) => answer.items.map(resultOf),
        (e: unknown) => some.map((run_id): Result => ({ run_id, error: sayError(e) })),
      );
      all.push(...items);
      setResults([...all]);
    }
    await client.invalidateQueries({ queryKey: runsKey });
  };
  const close = () => {
    if (done) onDone();
    onClose();
  };
  const title = w.ask[action](affected.length);
  const bad = results?.filter((x) => x.error) ?? [];
  const jobOf = (x: Result) => x.job ?? known.find((r) => r.run_id === x.run_id)?.job ?? "";
  const nameOf = (x: Result) => `${jobOf(x)} ${shortId(x.run_id)}`;
  const names = (some: Result[]) => (
    <ul className="names">
      {some.slice(0, listed).map((x) => (
        <li key={x.run_id}>
          {results &&
            (x.error ? (
              <CircleX size={14} className="c-bad" aria-hidden />
            ) : (
              <CircleCheck size={14} className="c-ok" aria-hidden />
            ))}
          <span>{nameOf(x)}</span>
          {x.error && <span className="mut">{x.error}</span>}
          {!results && x.before && <span className="c-warn">{w.ranAgain(shortId(x.before))}</span>}
          {results && x.again && <Again run={x.again} />}
        </li>
      ))}
      {some.length > listed && <li className="mut">{t.joblist.review.andMore(some.length - listed)}</li>}
    </ul>
  );
  return (
    <BulkDialog
      title={title}
      danger={action === "cancel"}
      working={busy ? t.joblist.review.working(results.length, affected.length) : undefined}
      blocked={
        affected.length === 0 || (mustType && typed !== word) || (action === "mark" && note.trim() === "")
      }
      outcome={done ? results.map((x) => `${x.run_id}\t${x.error ?? x.again ?? "ok"}`).join("\n") : undefined}
      leave={t.act.close}
      onStart={() => void start()}
      onClose={close}
    >
      {done ? (
        <>
          <p className={bad.length > 0 ? "c-bad" : "c-ok"}>
            {action === "rerun"
              ? w.begun(results.length - bad.length, bad.length)
              : t.joblist.review.result(results.length - bad.length, bad.length)}
          </p>
          {names([...bad, ...results.filter((x) => !x.error)])}
        </>
      ) : !looked ? (
        <Skeleton rows={4} />
      ) : (
        <>
          <div>
            <h3 className="lab">
              {action === "rerun" ? t.joblist.review.toRun : t.joblist.review.affected}{" "}
              <span className="mut">{w.ofJobs(affected.length, new Set(affected.map(jobOf)).size)}</span>
            </h3>
            {names(affected)}
          </div>
          {repeated.length > 0 && (
            <Check label={w.twice(repeated.length)} checked={twice} onChange={setTwice} />
          )}
          {refused.length > 0 && (
            <div>
              <h3 className="lab">
                {t.joblist.review.skipped} <span className="num">{f.number(refused.length)}</span>
              </h3>
              {names(refused)}
            </div>
          )}
          {action === "rerun" && (
            <SegmentsField
              label={t.run.retry.version}
              value={version}
              options={[
                { value: "latest", label: t.run.retry.latest },
                { value: "same", label: w.sameVersion },
              ]}
              onChange={setVersion}
            />
          )}
          {action === "mark" && (
            <SegmentsField
              label={t.run.mark.title}
              value={as}
              options={[
                { value: "handled", label: t.run.mark.as.handled },
                { value: "succeeded", label: t.run.mark.as.succeeded },
              ]}
              onChange={setAs}
            />
          )}
          {action !== "rerun" && (
            <TextField
              label={action === "mark" ? t.run.mark.note : t.run.cancelReason}
              value={note}
              maxLength={500}
              required={action === "mark"}
              onChange={setNote}
            />
          )}
          {mustType && (
            <TextField label={t.joblist.review.typeToConfirm(word)} value={typed} onChange={setTyped} />
          )}
        </>
      )}
    </BulkDialog>
  );
}

/** The run that does one again: how it goes, and the way to it. */
function Again({ run: id }: { run: string }) {
  const run = useQuery(runQuery(id)).data;
  return (
    <Link to="/runs/$runId" params={{ runId: id }} className="right row g2 link">
      {shortId(id)} {run && <Status status={run.status} />}
    </Link>
  );
}
