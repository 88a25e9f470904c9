import createClient, { type Middleware } from "openapi-fetch";
import { base } from "@/lib/base";
import { noteServerDate } from "@/lib/clock";
import { noteAnswer, noteBehind, noteVersion } from "@/lib/connection";
import { readAnswer, writeJson } from "@/lib/exact";
import { noteSignedOut } from "@/lib/expiry";
import { asProblem, ProblemError, unreachable } from "@/lib/problem";
import type { paths } from "./schema.gen";

/**
 * An answer whose json() keeps the numbers that users wrote. The client calls json() for an answer that
 * states its length; others it reads by itself.
 */
function exactly(response: Response): Response {
  if (!response.ok || response.body === null || response.status === 204) return response;
  const headers = new Headers(response.headers);
  headers.set("Content-Length", "unknown");
  const { status, statusText } = response;
  const answer = new Response(response.body, { status, statusText, headers });
  answer.json = async () => readAnswer(await answer.text());
  return answer;
}

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
    if (!response.ok && response.status !== 304) {
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
export const api = createClient<paths>({
  baseUrl: base,
  fetch: async (request) => exactly(await globalThis.fetch(request)),
  bodySerializer: (body) => writeJson(body),
});
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
