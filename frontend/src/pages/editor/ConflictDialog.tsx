import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { jobSnapshot } from "@/api/editor";
import type { LoadedJob } from "@/api/jobs";
import type { Job } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Diff } from "@/components/CodeEditor";
import { Dialog } from "@/components/Dialog";
import { Failed, Skeleton } from "@/components/Panel";
import { useEditorT } from "@/i18n";
import { writeJson } from "@/lib/exact";
import { relative } from "@/lib/format";
import { definitionOf } from "@/lib/jobdoc";
import { refOf } from "@/lib/jobref";
import { type Meeting, meetings, mergeInto, type Side } from "@/lib/merge";
import { useNow } from "@/lib/now";
import { problemOf } from "@/lib/problem";
import { kindOf } from "@/lib/words";
import { kindOfTask } from "./task/kinds";
import "./conflict.css";

interface ConflictDialogProps {
  /** What was edited here, and what came of it. */
  was: Job;
  mine: Job;
  onClose(): void;
  /** The edit goes on from what somebody else saved; from nothing when the job is gone. */
  onChoose(theirs: LoadedJob | undefined, doc: Job): void;
  /** What somebody else saved takes the place of the edit. */
  onTheirs(theirs: LoadedJob): void;
}

/**
 * Somebody saved the job while it was edited here. Shows which fields each of the two changed;
 * nothing is lost until one chooses.
 */
export function ConflictDialog({ was, mine, onClose, onChoose, onTheirs }: ConflictDialogProps) {
  const t = useEditorT();
  const c = t.editor.clash;
  const now = useNow();
  const [chosen, setChosen] = useState<Record<string, Side>>({});
  const query = useQuery({
    ...jobSnapshot(refOf(was.job), "merge"),
    retry: false,
    staleTime: 0,
    gcTime: 0,
  });
  const cancel = <Button onClick={onClose}>{t.act.cancel}</Button>;
  if (query.isError && problemOf(query.error).code === "not_found") {
    return (
      <Dialog
        title={c.gone(was.job)}
        hint={c.goneHint}
        open
        onClose={onClose}
        footer={
          <>
            {cancel}
            <Button look="primary" onClick={() => onChoose(undefined, mine)}>
              {c.again}
            </Button>
          </>
        }
      >
        {null}
      </Dialog>
    );
  }
  const theirs = query.data;
  const saved = theirs?.item.definition;
  const who = saved?.author || t.editor.someone;
  const doc = saved && definitionOf(saved);
  const all = doc ? meetings(was, mine, doc, wholeFields(was, mine, doc)) : [];
  const sideOf = (m: Meeting): Side | undefined =>
    chosen[m.field] ?? (m.by === "clash" ? undefined : m.by === "mine" ? "mine" : "theirs");
  const open = all.filter((m) => sideOf(m) === undefined).length;
  const merge = () => {
    if (theirs && doc)
      onChoose(
        theirs,
        mergeInto(
          doc,
          all.filter((m) => sideOf(m) === "mine"),
        ),
      );
  };
  return (
    <Dialog
      title={saved ? c.title(who, saved.version, relative(saved.effective_from, now, t)) : t.editor.conflict}
      hint={c.hint}
      open
      wide
      onClose={onClose}
      footer={
        <>
          {open > 0 && <span className="sec right-auto">{c.open(open)}</span>}
          {cancel}
          <Button disabled={!theirs} onClick={() => theirs && onTheirs(theirs)}>
            {c.theirs}
          </Button>
          <Button disabled={!theirs} onClick={() => onChoose(theirs, mine)}>
            {c.mine}
          </Button>
          <Button look="primary" disabled={!theirs || open > 0} onClick={merge}>
            {c.merge}
          </Button>
        </>
      }
    >
      {query.isPending && <Skeleton rows={4} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      <ul className="meetings">
        {all.map((m) => (
          <Field
            key={m.field}
            of={m}
            who={who}
            side={sideOf(m)}
            onSide={(side) => setChosen({ ...chosen, [m.field]: side })}
          />
        ))}
      </ul>
    </Dialog>
  );
}

interface FieldProps {
  of: Meeting;
  who: string;
  side: Side | undefined;
  onSide(side: Side): void;
}

/** One field: what it was, and the two values of which one is chosen. */
function Field({ of: m, who, side, onSide }: FieldProps) {
  const t = useEditorT();
  const c = t.editor.clash;
  const write = (value: unknown) =>
    value === undefined ? t.act.unset : typeof value === "string" ? value : writeJson(value, 2);
  const [mine, theirs] = [write(m.mine), write(m.theirs)];
  const isLong = mine.includes("\n") || theirs.includes("\n");
  const option = (of: Side, label: string, value: string) => (
    <label className={side === of ? "on" : undefined}>
      <input type="radio" className="ck" name={m.field} checked={side === of} onChange={() => onSide(of)} />
      <span>
        {label}
        {!isLong && <code className="mono">{value}</code>}
      </span>
    </label>
  );
  return (
    <li>
      <div className="row g2">
        <code className="mono name">{m.field}</code>
        <span className={m.by === "clash" ? "tag c-warn" : "tag"}>
          {m.by === "theirs" ? c.by.theirs(who) : c.by[m.by]}
        </span>
        {!isLong && (
          <span className="right mut trunc">
            {t.act.was} {write(m.was)}
          </span>
        )}
      </div>
      {m.by === "alike" ? (
        <code className="mono">{mine}</code>
      ) : (
        <div className="sides" role="radiogroup" aria-label={m.field}>
          {option("theirs", c.sideTheirs(who), theirs)}
          {option("mine", c.sideMine, mine)}
        </div>
      )}
      {isLong && m.by !== "alike" && (
        <Diff label={c.sides(m.field)} language="text" before={theirs} after={mine} />
      )}
    </li>
  );
}

/** The fields that can only be taken as a whole: half of one kind of schedule or task and half of another is none. */
function wholeFields(...docs: Job[]): string[] {
  const kinds = new Set(docs.map((d) => kindOf(d.schedule)));
  const tasks = new Set(docs.map((d) => kindOfTask(d.task)));
  return [...(kinds.size > 1 ? ["schedule"] : []), ...(tasks.size > 1 ? ["task"] : []), "task.script"];
}
