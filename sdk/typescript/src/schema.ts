/** Schemas of parameters and results: zod, or any library that implements Standard Schema. */

import { Failure } from "./errors";

/** What https://standardschema.dev defines, as far as the SDK uses it. */
export interface Schema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Of libraries that can write themselves as JSON Schema, such as zod 4.2 and newer. */
    readonly jsonSchema?: { readonly input: ToJsonSchema; readonly output: ToJsonSchema } | undefined;
  };
}

type ToJsonSchema = (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
type Validated<Output> = { readonly value: Output; readonly issues?: undefined } | { readonly issues: ReadonlyArray<Issue> };

interface Issue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/** A JSON Schema (2020-12) as an object. */
export type JsonSchema = Record<string, unknown>;

/** A value as the schema has it. Throws a Failure that says what does not fit, and where. */
export async function validate<Output>(schema: Schema<unknown, Output>, value: unknown, what: string): Promise<Output> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) {
    return result.value;
  }
  throw new Failure(`${what}: ${result.issues.map(describe).join("; ")}`);
}

function describe(issue: Issue): string {
  const path = (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

/** The schema as JSON Schema; undefined if its library cannot write it. */
export function jsonSchema(schema: Schema | undefined, side: "input" | "output"): JsonSchema | undefined {
  try {
    return schema?.["~standard"].jsonSchema?.[side]({ target: "draft-2020-12" });
  } catch {
    return undefined; // it has a part, such as a date, that JSON Schema does not have
  }
}
