import type { Document, LineCounter } from "yaml";
import type { Job, JobVersion } from "@/api/schema.gen";
import { meetings } from "./merge";
import { exactNumbers, exactValue } from "./yamlnumbers";

/** What the system knows of a version, and no document may say: all of it, as the type sees to. */
const ofVersion: Record<Exclude<keyof JobVersion, keyof Job>, true> = {
  version: true,
  effective_from: true,
  author: true,
  note: true,
  deleted: true,
  skips: true,
  format: true,
};

/** A job as its document says it: without what the system knows of the version. */
export function definitionOf(version: JobVersion): Job {
  return Object.fromEntries(
    Object.entries(version).filter(([name]) => !(name in ofVersion)),
  ) as unknown as Job;
}

/** A job without its pause: saving it leaves the job paused, or active, as it is. */
export function withoutPause({ paused: _p, paused_until: _u, ...job }: Job): Job {
  return job;
}

/** An edited document to save. One from which somebody has removed the pause resumes the job. */
export function editedFrom(was: Job, doc: Job): Job {
  const paused = (job: Job) => job.paused !== undefined || job.paused_until !== undefined;
  return paused(was) && !paused(doc) ? { ...doc, paused: false } : doc;
}

// The library is only needed where YAML is seen or edited.
const yaml = () => import("yaml");

const style = { lineWidth: 0, blockQuote: "literal" } as const;

/** Writes a document as the YAML that `carillon apply` reads. */
export async function toYaml(document: unknown): Promise<string> {
  const { stringify } = await yaml();
  return stringify(document, { ...style, ...exactNumbers });
}

/**
 * Writes into a YAML text what has changed of its document since. Comments, the order of the
 * fields and what the text looks like stay wherever the document is still the same.
 */
export async function rewriteYaml(text: string, document: unknown): Promise<string> {
  const { parseDocument } = await yaml();
  const written = parseDocument(text, exactNumbers);
  if (text.trim() === "" || written.errors.length > 0) return toYaml(document);
  const was: unknown = exactValue(written);
  const changed = meetings(was, document, was);
  if (changed.length === 0) return text;
  for (const { path, mine } of changed) {
    if (path.length === 0) return toYaml(document);
    if (mine === undefined) written.deleteIn(path);
    else written.setIn(path, typeof mine === "object" ? written.createNode(mine) : mine);
  }
  return written.toString(style);
}

/** The line, counted from 1, on which a field stands, such as children[0].job; of a field that is not there, that of what it belongs to. */
export async function lineOfField(text: string, field: string): Promise<number> {
  const { LineCounter, parseDocument } = await yaml();
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const path = field.split(/[.[\]]+/).filter(Boolean);
  for (let n = path.length; n > 0; n--) {
    const line = lineOf(document, lines, path.slice(0, n));
    if (line !== undefined) return line;
  }
  return 1;
}

function lineOf(document: Document, lines: LineCounter, path: string[]): number | undefined {
  const keys = path.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
  const node = document.getIn(keys, true);
  if (typeof node !== "object" || node === null || !("range" in node)) return undefined;
  const range: unknown = node.range;
  return Array.isArray(range) && typeof range[0] === "number" ? lines.linePos(range[0]).line : undefined;
}

export class YamlProblem extends Error {
  /** Counted from 1. */
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** Reads one YAML document. A wrong one throws a YamlProblem with its line. */
export async function fromYaml(text: string): Promise<unknown> {
  const { parseDocument } = await yaml();
  const document = parseDocument(text, exactNumbers);
  const [problem] = document.errors;
  if (problem) throw new YamlProblem(problem.message.split("\n")[0] ?? "", problem.linePos?.[0].line ?? 1);
  return exactValue(document);
}

type Shape = "text" | "number" | "list" | "record";

/** What the console relies on in a job from outside. The rest of it the server judges. */
const shapes: Record<string, Shape> = {
  job: "text",
  title: "text",
  description: "text",
  owner: "text",
  tags: "list",
  schedule: "record",
  "schedule.cron": "text",
  "schedule.every": "record",
  "schedule.zone": "text",
  "schedule.only": "list",
  "schedule.except": "list",
  misfire: "record",
  overlap: "record",
  retry: "record",
  "retry.on": "list",
  "retry.exit_codes": "list",
  labels: "record",
  map: "record",
  children: "list",
  steps: "list",
  task: "record",
  "task.command": "list",
  "task.env": "record",
  "task.secrets": "record",
  "task.http": "record",
  "task.script": "record",
};

/** The same in the wait of a step. */
const shapesOfWait: Record<string, Shape> = {
  for: "text",
  until: "text",
  signal: "text",
  key: "text",
  approval: "record",
  "approval.by": "list",
  runs: "record",
  "runs.job": "text",
  "runs.from": "text",
  "runs.to": "text",
  expires: "text",
};

/** The first field of a document that is not what a job has there, and what that would be; undefined of a job. */
export function misshapen(value: unknown): { field: string; wants: Shape | "there" } | undefined {
  if (!isRecord(value)) return { field: "", wants: "record" };
  if (value.job == null) return { field: "job", wants: "there" };
  if (value.task == null && value.steps == null) return { field: "task", wants: "there" };
  const odd = oddField(value, shapes);
  if (odd) return odd;
  for (const [i, step] of (Array.isArray(value.steps) ? value.steps : []).entries()) {
    const field = `steps[${i}]`;
    if (!isRecord(step)) return { field, wants: "record" };
    const does = step.call != null ? "call" : step.wait != null ? "wait" : "task";
    for (const [name, wants] of [
      ["step", "text"],
      [does, does === "call" ? "text" : "record"],
    ] as const) {
      if (step[name] == null) return { field: `${field}.${name}`, wants: "there" };
      if (shapeOf(step[name]) !== wants) return { field: `${field}.${name}`, wants };
    }
    const odd = does === "wait" && oddField(step.wait, shapesOfWait);
    if (odd) return { ...odd, field: `${field}.wait.${odd.field}` };
  }
  return undefined;
}

/** The first field that is there and not of the shape that it has to have. */
function oddField(
  value: unknown,
  shapes: Record<string, Shape>,
): { field: string; wants: Shape } | undefined {
  for (const [field, wants] of Object.entries(shapes)) {
    const found = field.split(".").reduce<unknown>((v, key) => (isRecord(v) ? v[key] : undefined), value);
    if (found != null && shapeOf(found) !== wants) return { field, wants };
  }
  return undefined;
}

function shapeOf(value: unknown): Shape | undefined {
  if (typeof value === "string") return "text";
  if (typeof value === "number") return "number";
  if (Array.isArray(value)) return "list";
  return isRecord(value) ? "record" : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value from outside is meant to be a job; misshapen says what of it cannot be shown. */
export function isJob(value: unknown): value is Job {
  return (
    isRecord(value) && typeof value.job === "string" && (isRecord(value.task) || Array.isArray(value.steps))
  );
}
