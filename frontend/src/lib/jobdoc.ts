import type { Job, JobVersion } from "@/api/schema.gen";

/** A job as its document says it: without what the system knows of the version. */
export function definitionOf(version: JobVersion): Job {
  const { version: _v, effective_from: _e, author: _a, note: _n, deleted: _d, skips: _s, ...job } = version;
  return job;
}

// The library is only needed where YAML is seen or edited.
const yaml = () => import("yaml");

/** Writes a document as the YAML that `carillon apply` reads. */
export async function toYaml(document: unknown): Promise<string> {
  const { stringify } = await yaml();
  return stringify(document, { lineWidth: 0, blockQuote: "literal" });
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
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem) throw new YamlProblem(problem.message.split("\n")[0] ?? "", problem.linePos?.[0].line ?? 1);
  return document.toJS();
}

/** Whether a value from outside has the shape of a job, as far as the console relies on it. */
export function isJob(value: unknown): value is Job {
  return (
    typeof value === "object" &&
    value !== null &&
    "job" in value &&
    typeof value.job === "string" &&
    "task" in value &&
    typeof value.task === "object" &&
    value.task !== null
  );
}
