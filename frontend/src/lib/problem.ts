import type { Problem, Reason } from "@/api/schema.gen";

/** A failed request, as RFC 9457 describes it. Its code is "unreachable" when no server answered. */
export type Trouble = Omit<Problem, "code"> & { code: Problem["code"] | "unreachable" };

export class ProblemError extends Error {
  readonly problem: Trouble;
  constructor(problem: Trouble) {
    super(problem.detail ?? problem.title);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

export function unreachable(): Trouble {
  return { type: "about:blank", title: "No answer", status: 0, code: "unreachable", request_id: "" };
}

/** The problem that a 503 answer carries. */
export function unavailable(): Trouble {
  return { ...unreachable(), title: "A part of the system is away", code: "unavailable" };
}

/** Reads a failed answer. A proxy's own error page is no problem document: its status must do. */
export async function asProblem(response: Response): Promise<Trouble> {
  if (response.headers.get("Content-Type")?.startsWith("application/problem+json")) {
    return (await response.json()) as Problem;
  }
  const code = response.status >= 500 ? "unavailable" : "invalid";
  return { type: "about:blank", title: response.statusText, status: response.status, code, request_id: "" };
}

export function problemOf(error: unknown): Trouble {
  if (error instanceof ProblemError) return error.problem;
  return { ...unreachable(), code: "internal", title: "Error", detail: String(error) };
}

/** What is wrong with each field, by its path, as say has it. */
export function fieldErrors(error: unknown, say: (reason: Reason) => string): Map<string, string> {
  const errors = error instanceof ProblemError ? error.problem.errors : undefined;
  return new Map((errors ?? []).map((e) => [e.field, say(e.reason)]));
}
