/** Sends requests of a client, and repeats them while that may help. */

import { type Answer, ClientError, problem, TooMany, Unavailable } from "./client_errors";

const requestTimeout = 10_000;
const maxAnswer = 16 << 20; // bytes
// A request is repeated for so many seconds, after pauses that double.
export const againFor = 30;
export const againFirst = 1;
export const againMost = 8;

/** A request of the API. @internal */
export interface Request {
  method: "GET" | "POST";
  path: string;
  body?: unknown;
  cancel?: boolean;
  signal?: AbortSignal | undefined;
}

/** What sends a request. @internal */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Sends requests to a server. @internal */
export class Sender {
  /** The time in milliseconds, which tests replace. */
  now = (): number => Date.now();
  /** How long something took, in seconds, which tests replace. */
  elapsed = (): number => performance.now() / 1000;
  /** Waits for so many seconds, or until the signal aborts; tests replace it. */
  pause = pause;

  constructor(
    readonly server: string,
    private readonly token: string,
    private readonly fetch: Fetch,
  ) {}

  /** Sends a request, and repeats it while that may help: it must do no harm when it is done twice. */
  async ask<T>(request: Request): Promise<T> {
    const begun = this.elapsed();
    for (let next = againFirst; ; next = Math.min(2 * next, againMost)) {
      let wait: number | undefined;
      try {
        return await this.send<T>(request);
      } catch (error) {
        wait = repeatAfter(error, next);
        if (wait === undefined || this.elapsed() - begun + wait > againFor) {
          throw error;
        }
      }
      await this.pause(wait, request.signal);
    }
  }

  /** Sends a request once. */
  async send<T>(request: Request): Promise<T> {
    const answer = await this.exchange(request);
    if (answer.status >= 300 || answer.status < 200) {
      throw problem(this.server, answer, request.cancel ?? false);
    }
    if (answer.text.length > maxAnswer) {
      throw Object.assign(new ClientError(`the answer of ${this.server} is longer than ${maxAnswer} bytes`), { status: answer.status });
    }
    try {
      return JSON.parse(answer.text) as T;
    } catch {
      throw Object.assign(new ClientError(`${this.server} did not answer in JSON: is a Carillon server listening there?`), { status: answer.status });
    }
  }

  private async exchange({ method, path, body, signal }: Request): Promise<Answer> {
    const headers: Record<string, string> = {};
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
    }
    if (this.token !== "") {
      headers["Authorization"] = `Bearer ${this.token}`;
    }
    const late = AbortSignal.timeout(requestTimeout);
    const init: RequestInit = { method, headers, redirect: "manual", signal: signal ? AbortSignal.any([signal, late]) : late };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
    }
    try {
      const response = await this.fetch(this.server + path, init);
      return { status: response.status, headers: response.headers, text: await read(response) };
    } catch (error) {
      signal?.throwIfAborted();
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new Unavailable(`no answer from ${this.server}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause: error });
    }
  }
}

/** Reads an answer. One that is too long is cut, and still too long. */
async function read(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) {
      break;
    }
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
    if (bytes > maxAnswer) {
      await reader.cancel();
      return " ".repeat(maxAnswer + 1);
    }
  }
  return text + decoder.decode();
}

/** The seconds after which to repeat a request, at least `next`; undefined if that does not help. @internal */
export function repeatAfter(error: unknown, next: number): number | undefined {
  if (error instanceof Unavailable || (error instanceof TooMany && error.after > 0)) {
    return Math.max(next, error.after);
  }
  return undefined;
}

async function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
