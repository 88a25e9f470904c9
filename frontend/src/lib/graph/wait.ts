import type { RunStep, RunWait, StepWait } from "@/api/schema.gen";
import { formatDuration, parseDuration } from "@/lib/duration";
import type { PageWords } from "@/lib/format";

/** What a step waits for: as its run has it, or as far as the document says it. */
export interface Awaited extends RunWait, Pick<RunStep, "met" | "of"> {
  /** How long, as the document writes it. */
  lasts?: string;
  /** Until when, as the document writes it: it may have references. */
  until?: string;
}

/** The kinds of waits of a document: each is the name of its field. */
export const waitKinds = ["for", "until", "signal", "approval", "runs"] as const;
export type WaitField = (typeof waitKinds)[number];

const isRecord = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null;

/** Which kind of wait it is, also while its field is still empty. */
export function waitKindOf(wait: StepWait): WaitField | undefined {
  return waitKinds.find((k) => wait[k] !== undefined);
}

/** What a step of a document waits for, also of one that is being written and may be wrong. */
export function plannedWait(found: unknown): Awaited | undefined {
  if (!isRecord(found)) return undefined;
  const wait = found as StepWait;
  const { key } = wait;
  switch (waitKindOf(wait)) {
    case "signal":
      return { kind: "signal", signal: String(wait.signal), key };
    case "approval": {
      const { by, min, not_by_requester } = wait.approval ?? {};
      return { kind: "approval", by: Array.isArray(by) ? by : undefined, min, not_by_requester };
    }
    case "runs":
      return { kind: "runs", runs: { job: String(wait.runs?.job ?? "") } };
    default:
      return { kind: "time", lasts: wait.for, until: wait.until };
  }
}

/** What a step of a run waits for. For how long, its definition says. */
export function awaitedBy({ wait, met, of, detail }: RunStep): Awaited | undefined {
  const [, field, text] = /^(for|until) (.*)$/.exec(detail ?? "") ?? [];
  return wait && { ...wait, ...(field === "for" ? { lasts: text } : { until: text }), met, of };
}

/** How many approvals a step needs. */
export const neededBy = (wait: RunWait): number => Math.max(1, wait.min ?? 1);

/** An instant: without its day if that is today, and without seconds. */
export function momentOf(at: string, now: number, { f }: Pick<PageWords, "f">): string {
  return f.day(at) === f.day(now) ? f.minute(at) : f.short(at, now);
}

/** Who may approve, as people call them. Without any it is the operators of the job's group. */
export function approvers(by: readonly string[] | undefined, { t }: Pick<PageWords, "t">): string[] {
  return (by?.length ? by : ["role:operator"]).map((who) => {
    const [, kind, name = ""] = /^(user|role):(.*)$/.exec(who) ?? [];
    if (kind === "role") return t.waits.role(t.signIn.roles[name] ?? name);
    return kind ? name : who;
  });
}

/** What a step waits for in a few words, as there is room for in a box. */
export function waitInBrief(wait: Awaited, now: number, words: PageWords): string {
  const w = words.t.waits;
  switch (wait.kind) {
    case "time":
      if (wait.at) return w.until(momentOf(wait.at, now, words));
      return wait.lasts !== undefined ? w.lasts(lengthOf(wait.lasts)) : w.until(wait.until ?? "…");
    case "signal":
      return w.signal(wait.signal ?? "");
    case "approval": {
      const of = neededBy(wait);
      return of > 1 ? w.approvals(wait.approvals?.length ?? 0, of) : w.approval;
    }
    case "runs":
      if (wait.met !== undefined && wait.of !== undefined) return w.runsMet(wait.met, wait.of);
      return w.runs(wait.runs?.job ?? "");
  }
}

/** What a step waits for, in a line that says all of it. */
export function waitInWords(wait: Awaited, now: number, words: PageWords): string {
  const w = words.t.waits;
  switch (wait.kind) {
    case "time":
      return waitInBrief(wait, now, words);
    case "signal":
      return wait.key ? w.signalKey(wait.signal ?? "", wait.key) : w.signal(wait.signal ?? "");
    case "approval":
      return w.approvalBy(approvers(wait.by, words), wait.approvals?.length ?? 0, neededBy(wait));
    case "runs": {
      const { met, of, runs } = wait;
      return w.runsFound({ job: runs?.job ?? "", met, of });
    }
  }
}

/** The same as a sentence. */
export function waitAsSentence(wait: Awaited, now: number, words: PageWords): string {
  const said = waitInWords(wait, now, words);
  return wait.kind === "time" ? words.t.waits.waits(said) : words.t.waits.waitsFor(said);
}

function lengthOf(lasts: string): string {
  const ms = parseDuration(lasts);
  return ms === undefined ? lasts : formatDuration(ms);
}
