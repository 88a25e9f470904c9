/** What jobs are filtered by, as the API's conditions and the address name it. */
export const jobFields = [
  "group",
  "owner",
  "last",
  "error",
  "type",
  "tag",
  "state",
  "schedule",
  "handler",
  "fires",
  "changed",
] as const;
export type JobField = (typeof jobFields)[number];

/** Fields that have these values and no others. */
export const knownValues: Partial<Record<JobField, readonly string[]>> = {
  type: ["handler", "shell", "command", "http", "script", "workflow"],
  schedule: ["cron", "every", "fixed_rate", "fixed_delay", "once", "manual"],
  state: ["active", "paused", "gave_up", "manual", "ended"],
  last: [
    "none",
    "pending",
    "queued",
    "running",
    "succeeded",
    "failed",
    "timed_out",
    "cancelled",
    "lost",
    "skipped",
    "missed",
  ],
  fires: ["10m", "1h", "24h", "168h"],
  changed: ["1h", "24h", "168h", "720h"],
};

/** Fields about a time ahead or back, of which there is one at a time. */
export const isSpan = (field: JobField) => field === "fires" || field === "changed";

/** What is chosen of each field; a hyphen before a value is that it must not hold. */
export type JobChoices = Partial<Record<JobField, string[]>>;

/** A value without the hyphen that turns it round. */
export const bare = (value: string) => value.replace(/^-/, "");

const span = /^[1-9]\d*(s|m|h)$/;

/** Whether a field can have a value, so that the server would not refuse to be asked for it. */
export function isValue(field: JobField, value: string): boolean {
  if (isSpan(field)) return span.test(value);
  return bare(value) !== "" && (knownValues[field]?.includes(bare(value)) ?? true);
}

/** The conditions for what is chosen, as the API has them. */
export function conditionsOf(choices: JobChoices): string[] {
  return jobFields.flatMap((field) =>
    (choices[field] ?? []).map((v) => (v.startsWith("-") ? `-${field}:${bare(v)}` : `${field}:${v}`)),
  );
}

const condition = `(-?)(${jobFields.join("|")}):(?:"([^"]*)"|(\\S*))`;
const written = new RegExp(`(?<=^|\\s)${condition}(?=\\s|$)`, "gi");
const unfinished = new RegExp(`(?:^|\\s)${condition}$`, "i");

/**
 * Takes what is written as field:value out of a text. What stands at its end may not be finished
 * yet: it stays, unless the text is.
 */
export function readChoices(text: string, isFinished: boolean): { rest: string; choices: JobChoices } {
  const choices: JobChoices = {};
  const rest = text.replace(
    written,
    (whole, not: string, name: string, quoted?: string, plain?: string, at?: number) => {
      const field = jobFields.find((f) => f === name.toLowerCase());
      const value = not + (quoted ?? plain ?? "");
      const ends = (at ?? 0) + whole.length === text.length;
      if (!field || (ends && !isFinished) || !isValue(field, value)) return whole;
      choices[field] = isSpan(field) ? [value] : [...(choices[field] ?? []), value];
      return "";
    },
  );
  return Object.keys(choices).length === 0
    ? { rest: text, choices }
    : { rest: rest.replace(/\s+/g, " ").trimStart(), choices };
}

/** The field:value that is being written at the end of a text. */
export function unfinishedOf(text: string): { field: JobField; value: string; not: boolean } | undefined {
  const [, not, name, , value] = unfinished.exec(text) ?? [];
  const field = jobFields.find((f) => f === name?.toLowerCase());
  return field && value !== undefined ? { field, value, not: not === "-" } : undefined;
}

/** A text without the field:value that is being written at its end: what the list is narrowed by meanwhile. */
export const withoutUnfinished = (text: string) => text.replace(unfinished, "").trim();

/** What is chosen, with more of it. */
export function together(choices: JobChoices, more: JobChoices): JobChoices {
  const both = { ...choices };
  for (const field of jobFields) {
    const added = more[field];
    if (added) both[field] = isSpan(field) ? added : [...new Set([...(both[field] ?? []), ...added])];
  }
  return both;
}
