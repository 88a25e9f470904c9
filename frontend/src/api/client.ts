import createClient, { type Middleware } from "openapi-fetch";
import { base } from "@/lib/base";
import { noteServerDate } from "@/lib/clock";
import { noteAnswer, noteBehind, noteVersion } from "@/lib/connection";
import { noteSignedOut } from "@/lib/expiry";
import { asProblem, ProblemError, unreachable } from "@/lib/problem";
import type { paths } from "./schema.gen";

/** When each request that is under way was sent. */
const sentAt = new WeakMap<Request, number>();

const errors: Middleware = {
  onRequest({ request }) {
    sentAt.set(request, Date.now());
  },
  async onResponse({ request, response }) {
    noteServerDate(response.headers.get("Date"), sentAt.get(request) ?? Date.now());
    noteAnswer(true);
    if (response.headers.has("Carillon-As-Of")) noteBehind(true);
    const version = response.headers.get("Carillon-Version");
    if (version !== null) noteVersion(version);
    if (!response.ok) {
      const problem = await asProblem(response);
      // A wrong password is 401 too, but says nothing about the session.
      if (problem.code === "unauthenticated" && !request.url.endsWith("/sign-in")) noteSignedOut(true);
      throw new ProblemError(problem);
    }
  },
  onError({ error }) {
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    noteAnswer(false);
    return new ProblemError(unreachable());
  },
};

/** The API as its contract describes it. Whatever goes wrong is thrown as a ProblemError. */
export const api = createClient<paths>({ baseUrl: base, fetch: (request) => globalThis.fetch(request) });
api.use(errors);

/**
 * Returns the data of an answer that has some. What is wrong was thrown before, so an
 * answer without data breaks the contract.
 */
export async function dataOf<T>(answer: Promise<{ data?: T }>): Promise<T> {
  const { data } = await answer;
  if (data === undefined) throw new ProblemError(unreachable());
  return data;
}
