import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleX } from "lucide-react";
import { useState } from "react";
import { bulkTrialKey, changeJobs, refreshJobs } from "@/api/jobs";
import { firesOfQuery } from "@/api/schedule";
import type { JobBulk } from "@/api/schema.gen";
import { BulkDialog } from "@/components/BulkDialog";
import { TextField } from "@/components/fields";
import { Skeleton } from "@/components/Panel";
import { PauseEndField } from "@/components/PauseEndField";
import { usePageT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { useFormat } from "@/lib/format";
import { endOf, noEnd } from "@/lib/pause";
import { type Sayer, useSayer } from "@/lib/reason";

export type Action = "run" | "pause" | "resume" | "edit" | "remove";

const listed = 20;
/** So many at a time that one sees it go on. */
const atOnce = 100;
const mostAsked = 1000;

/** What became of a job, or would: why is said of one that stays as it is. */
interface Outcome {
  job: string;
  result: "changed" | "unchanged" | "refused";
  why?: string;
}

interface ReviewProps {
  action: Action;
  jobs: string[];
  onClose(): void;
  onDone(): void;
}

/** Shows what an action will do to many jobs, does it, and shows what became of each. */
export function Review({ action, jobs, onClose, onDone }: ReviewProps) {
  const t = usePageT();
  const sayer = useSayer();
  const r = t.joblist.review;
  const client = useQueryClient();
  const { zone } = useFormat();
  const [note, setNote] = useState("");
  const [end, setEnd] = useState(noEnd);
  const [owner, setOwner] = useState("");
  const [adds, setAdds] = useState("");
  const [removes, setRemoves] = useState("");
  const [typed, setTyped] = useState("");
  const [results, setResults] = useState<Outcome[]>();

  const change: JobBulk = { action: action === "remove" ? "delete" : action };
  const until = action === "pause" ? endOf(end, serverNow(), zone) : undefined;
  const ends = until !== undefined && !Number.isNaN(until);
  if (ends) change.until = new Date(until).toISOString();
  if (note && action !== "run" && action !== "remove") change.note = note;
  if (action === "edit") {
    const tags = (text: string) => text.split(/[\s,]+/).filter((tag) => tag !== "");
    if (owner.trim()) change.owner = owner.trim();
    if (tags(adds).length > 0) change.add_tags = tags(adds);
    if (tags(removes).length > 0) change.remove_tags = tags(removes);
  }
  const isSaid = action !== "edit" || change.owner || change.add_tags || change.remove_tags;

  // The server says what would become of each: who may not, and where nothing is to be done.
  const trial = useQuery({
    queryKey: bulkTrialKey(change, jobs),
    queryFn: () => ask({ ...change, dry_run: true }, jobs, mostAsked, () => {}, sayer),
    enabled: Boolean(isSaid) && results === undefined,
    placeholderData: (was) => was,
    retry: false,
  });
  const fires = useQuery({ ...firesOfQuery(jobs), enabled: action === "pause" }).data;
  const outcomes = isSaid ? (trial.data ?? []) : jobs.map((job): Outcome => ({ job, result: "changed" }));
  const affected = outcomes.filter((x) => x.result === "changed").map((x) => x.job);
  const same = {
    pause: r.alreadyPaused,
    resume: r.notPaused,
    edit: t.joblist.alreadySo,
    run: "",
    remove: "",
  };
  const skipped = outcomes
    .filter((x) => x.result !== "changed")
    .map((x) => ({ ...x, why: x.result === "unchanged" ? same[action] : x.why }));
  const word = String(affected.length);
  const mustType = action === "remove" && affected.length > 1;
  const busy = results !== undefined && results.length < affected.length;
  const finished = results !== undefined && !busy;

  const start = async () => {
    setResults([]);
    const done = await ask(change, affected, atOnce, setResults, sayer);
    setResults(done);
    await refreshJobs(client);
  };
  const close = () => {
    if (finished) onDone();
    onClose();
  };
  const bad = results?.filter((x) => x.result === "refused") ?? [];
  const titles = { ...r, edit: t.joblist.edit };
  const title = titles[action](affected.length);
  return (
    <BulkDialog
      title={title}
      danger={action === "remove"}
      working={busy ? r.working(results.length, affected.length) : undefined}
      blocked={
        !isSaid ||
        affected.length === 0 ||
        trial.isFetching ||
        (mustType && typed !== word) ||
        Number.isNaN(until)
      }
      outcome={finished ? results.map((x) => `${x.job}\t${x.why ?? x.result}`).join("\n") : undefined}
      leave={t.act.cancel}
      onStart={() => void start()}
      onClose={close}
    >
      {finished ? (
        <>
          <p className={bad.length > 0 ? "c-bad" : "c-ok"}>
            {r.result(results.length - bad.length, bad.length)}
          </p>
          <ul className="names">
            {[...bad, ...results.filter((x) => x.result !== "refused")].slice(0, listed).map((x) => (
              <li key={x.job}>
                {x.result === "refused" ? (
                  <CircleX size={14} className="c-bad" aria-hidden />
                ) : (
                  <CircleCheck size={14} className="c-ok" aria-hidden />
                )}
                <span>{x.job}</span>
                {x.why && <span className="mut">{x.why}</span>}
              </li>
            ))}
          </ul>
        </>
      ) : (
        <>
          {action === "edit" && (
            <>
              <div className="two">
                <TextField
                  label={t.joblist.addTags}
                  value={adds}
                  hint={t.joblist.tagsHint}
                  onChange={setAdds}
                />
                <TextField label={t.joblist.removeTags} value={removes} onChange={setRemoves} />
              </div>
              <TextField
                label={t.joblist.setOwner}
                value={owner}
                maxLength={100}
                hint={t.joblist.ownerHint}
                onChange={setOwner}
              />
            </>
          )}
          {action === "pause" && <PauseEndField value={end} onChange={setEnd} />}
          {action !== "run" && action !== "remove" && (
            <TextField label={r.note} value={note} maxLength={500} onChange={setNote} />
          )}
          {mustType && <TextField label={r.typeToConfirm(word)} value={typed} onChange={setTyped} />}
          {trial.isError && <p className="note warn">{sayer.sayError(trial.error)}</p>}
          {action === "pause" && fires !== undefined && <p className="note warn">{r.pauseNote(fires)}</p>}
          {action === "remove" && <p className="note warn">{r.deleteNote}</p>}
          {isSaid && trial.isPending ? (
            <Skeleton rows={3} />
          ) : (
            <>
              {skipped.length > 0 && <Names title={r.skipped} items={skipped} />}
              <Names
                title={action === "run" ? r.toRun : r.affected}
                items={affected.map((job) => ({ job }))}
              />
            </>
          )}
        </>
      )}
    </BulkDialog>
  );
}

/** Asks for a change of many jobs, some at a time; told hears what has become of those so far. */
async function ask(
  change: JobBulk,
  jobs: string[],
  atOnce: number,
  told: (outcomes: Outcome[]) => void,
  { sayError, sayProblem }: Sayer,
): Promise<Outcome[]> {
  const all: Outcome[] = [];
  for (let from = 0; from < jobs.length; from += atOnce) {
    const some = jobs.slice(from, from + atOnce);
    const outcomes = await changeJobs({ ...change, jobs: some }).then(
      (answer) =>
        answer.items.map(
          ({ job, result, problem }): Outcome => ({ job, result, why: problem && sayProblem(problem) }),
        ),
      (error: unknown) => some.map((job): Outcome => ({ job, result: "refused", why: sayError(error) })),
    );
    all.push(...outcomes);
    if (all.length < jobs.length) told([...all]);
  }
  return all;
}

function Names({ title, items }: { title: string; items: { job: string; why?: string }[] }) {
  const t = usePageT();
  return (
    <div>
      <h3 className="lab">
        {title} <span className="mut num">{items.length}</span>
      </h3>
      <ul className="names">
        {items.slice(0, listed).map((x) => (
          <li key={x.job}>
            <span>{x.job}</span>
            {x.why && <span className="mut">{x.why}</span>}
          </li>
        ))}
        {items.length > listed && <li className="mut">{t.joblist.review.andMore(items.length - listed)}</li>}
      </ul>
    </div>
  );
}
