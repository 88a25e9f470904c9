import { useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleX, type LucideIcon, Pause, Play, Trash2, X, Zap } from "lucide-react";
import { useState } from "react";
import { api, dataOf } from "@/api/client";
import { changeJobs, type JobFilter, refreshJobs } from "@/api/jobs";
import { problemOf } from "@/api/problem";
import type { JobItem } from "@/api/schema.gen";
import type { Deed } from "@/api/session";
import { Button } from "@/components/Button";
import { CopyButton } from "@/components/Copy";
import { Dialog } from "@/components/Dialog";
import { PauseEndField } from "@/components/PauseEndField";
import { useT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { useFormat } from "@/lib/format";
import { endOf, noEnd, pauseOf } from "@/lib/pause";
import { useComplain } from "@/shell/actions";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";

type Action = "run" | "pause" | "resume" | "remove";

interface Target {
  job: string;
  paused: boolean;
}

interface BulkProps {
  filter: JobFilter;
  /** How many jobs match the filter. */
  total: number;
  /** Those of the selected jobs that are loaded. */
  known: JobItem[];
  selected: ReadonlySet<string>;
  onSelect(selected: ReadonlySet<string>): void;
}

/** Of each job the server judges whether one may; here it is whether one may with any. */
const actions: { action: Action; icon: LucideIcon; deed: Deed }[] = [
  { action: "run", icon: Zap, deed: "operate" },
  { action: "pause", icon: Pause, deed: "operate" },
  { action: "resume", icon: Play, deed: "operate" },
  { action: "remove", icon: Trash2, deed: "edit" },
];

/** What can be done to all selected jobs at once, after a review of what it will do. */
export function Bulk({ filter, total, known, selected, onSelect }: BulkProps) {
  const t = useT();
  const complain = useComplain();
  const may = useMay();
  const [review, setReview] = useState<{ action: Action; targets: Target[]; fires: number | undefined }>();
  const [targets, setTargets] = useState<ReadonlyMap<string, Target>>(new Map());
  const clear = () => onSelect(new Set());
  useKeys({ escape: clear });

  const chosen = [...selected].map((job): Target => {
    const item = known.find((k) => k.definition.job === job);
    return (
      targets.get(job) ?? {
        job,
        paused: item !== undefined && pauseOf(item.definition, serverNow()) !== undefined,
      }
    );
  });
  const selectMatching = async () => {
    try {
      const all = await allTargets(filter);
      setTargets(new Map(all.map((x) => [x.job, x])));
      onSelect(new Set(all.map((x) => x.job)));
    } catch (error) {
      complain(error);
    }
  };
  const begin = async (action: Action) => {
    const fires = action === "pause" ? await firesWithinAnHour(chosen).catch(() => undefined) : undefined;
    setReview({ action, targets: chosen, fires });
  };
  return (
    <>
      <div className="bulk" role="toolbar" aria-label={t.jobs.selected(selected.size)}>
        <span className="num">{t.jobs.selected(selected.size)}</span>
        {selected.size < total && (
          <button type="button" className="soft" onClick={() => void selectMatching()}>
            {t.act.selectAll} {total}
          </button>
        )}
        <i />
        {actions.map(({ action, icon: Icon, deed }) => (
          <button
            key={action}
            type="button"
            className={action === "remove" ? "bad" : undefined}
            disabled={!may(deed)}
            title={may(deed) ? undefined : t.signIn.needs}
            onClick={() => void begin(action)}
          >
            <Icon size={15} aria-hidden />
            {t.act[action]}
          </button>
        ))}
        <i />
        <button type="button" aria-label={t.act.clear} onClick={clear}>
          <X size={15} aria-hidden />
        </button>
      </div>
      {review && <Review {...review} onClose={() => setReview(undefined)} onDone={clear} />}
    </>
  );
}

async function allTargets(filter: JobFilter): Promise<Target[]> {
  const all: Target[] = [];
  let cursor: string | undefined;
  do {
    const page = await dataOf(
      api.GET("/api/v1/jobs", { params: { query: { ...filter, fires: 0, runs: 0, limit: 1000, cursor } } }),
    );
    all.push(
      ...page.items.map((i) => ({
        job: i.definition.job,
        paused: pauseOf(i.definition, serverNow()) !== undefined,
      })),
    );
    cursor = page.next;
  } while (cursor);
  return all;
}

async function firesWithinAnHour(targets: Target[]): Promise<number> {
  const names = new Set(targets.map((x) => x.job));
  const to = new Date(serverNow() + 3_600_000).toISOString();
  let n = 0;
  let cursor: string | undefined;
  do {
    const page = await dataOf(
      api.GET("/api/v1/fires", { params: { query: { to, per_job: 500, limit: 1000, cursor } } }),
    );
    for (const item of page.items) if (names.has(item.job)) n += item.fires.length;
    cursor = page.next;
  } while (cursor);
  return n;
}

const listed = 20;
const atOnce = 100;

interface ReviewProps {
  action: Action;
  targets: Target[];
  fires: number | undefined;
  onClose(): void;
  onDone(): void;
}

interface Result {
  job: string;
  error: string | undefined;
}

function Review({ action, targets, fires, onClose, onDone }: ReviewProps) {
  const t = useT();
  const r = t.jobs.review;
  const client = useQueryClient();
  const [note, setNote] = useState("");
  const [end, setEnd] = useState(noEnd);
  const { zone } = useFormat();
  const until = action === "pause" ? endOf(end, serverNow(), zone) : undefined;
  const [typed, setTyped] = useState("");
  const [results, setResults] = useState<Result[]>();
  const skipped = targets.filter(
    (x) => (action === "pause" && x.paused) || (action === "resume" && !x.paused),
  );
  const affected = targets.filter((x) => !skipped.includes(x));
  const word = String(affected.length);
  const mustType = action === "remove" && affected.length > 1;
  const busy = results !== undefined && results.length < affected.length;
  const finished = results !== undefined && !busy;

  const start = async () => {
    const done: Result[] = [];
    const at = until === undefined ? undefined : new Date(until).toISOString();
    setResults([]);
    // So many at a time that one sees it go on.
    for (let from = 0; from < affected.length; from += atOnce) {
      const some = affected.slice(from, from + atOnce).map((x) => x.job);
      const results = await changeJobs(action === "remove" ? "delete" : action, some, note, at).then(
        (answer) => answer.items.map((x) => ({ job: x.job, error: x.problem?.detail ?? x.problem?.title })),
        (e: unknown) => some.map((job) => ({ job, error: problemOf(e).detail ?? problemOf(e).title })),
      );
      done.push(...results);
      setResults([...done]);
    }
    await refreshJobs(client);
  };
  const close = () => {
    if (finished) onDone();
    onClose();
  };
  const bad = results?.filter((x) => x.error) ?? [];
  const title = r[action](affected.length);
  return (
    <Dialog
      title={title}
      open
      wide
      onClose={busy ? () => {} : close}
      footer={
        finished ? (
          <>
            <CopyButton
              label={r.copyResult}
              text={results.map((x) => `${x.job}\t${x.error ?? "ok"}`).join("\n")}
            />
            <Button look="primary" onClick={close}>
              {t.act.close}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={close} disabled={busy}>
              {t.act.cancel}
            </Button>
            <Button
              look={action === "remove" ? "danger-fill" : "primary"}
              busy={busy}
              disabled={affected.length === 0 || (mustType && typed !== word) || Number.isNaN(until)}
              onClick={() => void start()}
            >
              {busy ? r.working(results.length, affected.length) : title}
            </Button>
          </>
        )
      }
    >
      {finished ? (
        <>
          <p className={bad.length > 0 ? "c-bad" : "c-ok"}>
            {r.result(results.length - bad.length, bad.length)}
          </p>
          <ul className="names">
            {[...bad, ...results.filter((x) => !x.error)].slice(0, listed).map((x) => (
              <li key={x.job}>
                {x.error ? (
                  <CircleX size={14} className="c-bad" aria-hidden />
                ) : (
                  <CircleCheck size={14} className="c-ok" aria-hidden />
                )}
                <span>{x.job}</span>
                {x.error && <span className="mut">{x.error}</span>}
              </li>
            ))}
          </ul>
        </>
      ) : (
        <>
          <Names title={r.affected} targets={affected} />
          {skipped.length > 0 && (
            <Names
              title={r.skipped}
              targets={skipped}
              reason={action === "pause" ? r.alreadyPaused : r.notPaused}
            />
          )}
          {action === "pause" && fires !== undefined && <p className="note warn">{r.pauseNote(fires)}</p>}
          {action === "remove" && <p className="note warn">{r.deleteNote}</p>}
          {action === "pause" && <PauseEndField value={end} onChange={setEnd} />}
          {(action === "pause" || action === "resume") && (
            <label className="f">
              <span className="lab">{r.note}</span>
              <span className="inp">
                <input value={note} maxLength={500} onChange={(e) => setNote(e.target.value)} />
              </span>
            </label>
          )}
          {mustType && (
            <label className="f">
              <span className="lab">{r.typeToConfirm(word)}</span>
              <span className="inp">
                <input value={typed} autoComplete="off" onChange={(e) => setTyped(e.target.value)} />
              </span>
            </label>
          )}
        </>
      )}
    </Dialog>
  );
}

function Names({ title, targets, reason }: { title: string; targets: Target[]; reason?: string }) {
  const t = useT();
  return (
    <div>
      <h3 className="lab">{title}</h3>
      <ul className="names">
        {targets.slice(0, listed).map((x) => (
          <li key={x.job}>
            <span>{x.job}</span>
            {reason && <span className="mut">{reason}</span>}
          </li>
        ))}
        {targets.length > listed && <li className="mut">{t.jobs.review.andMore(targets.length - listed)}</li>}
      </ul>
    </div>
  );
}
