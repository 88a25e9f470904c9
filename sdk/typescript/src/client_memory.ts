/** A server in memory, for tests of applications. */

import { Client, hasEnded, type Status } from "./client";
import { milliseconds } from "./time";

/** A run that was asked for. `at`, `in` and `expires` are as they were sent, such as "3600s". */
export interface Wish {
  run_id: string;
  job: string;
  params?: unknown;
  labels?: Record<string, string>;
  at?: string;
  in?: string;
  expires?: string;
}

interface State {
  status: Status;
  result?: unknown;
  due?: string;
}

/**
 * A server that keeps the runs that were asked for in `wishes`, and ends them as the test wants.
 * Without `end`, runs succeed at once. Those with a time wait until they are cancelled.
 */
export class Memory {
  readonly wishes: Wish[] = [];
  readonly #ends = new Map<string, State>(); // by job
  readonly #states = new Map<string, State>(); // by run

  /** A client of the server. */
  client(): Client {
    return new Client({ server: "http://memory", fetch: (url, init) => Promise.resolve(this.#answer(new URL(url), init)) });
  }

  /** Sets how the runs of a job end, from the next one on. With "running" they do not end. */
  end(job: string, status: Status, result?: unknown): void {
    this.#ends.set(job, { status, result });
  }

  #answer(url: URL, init: RequestInit): Response {
    const parts = url.pathname.split("/").slice(3).map(decodeURIComponent);
    const [, first = "", second = ""] = parts;
    if (init.method === "POST" && parts.length === 4) {
      return json(202, this.#run(`${first}/${second}`, JSON.parse(String(init.body)) as Omit<Wish, "job">));
    }
    if (parts.length === 1) {
      return json(200, { items: this.#waiting(url.searchParams.get("job")) });
    }
    const state = this.#states.get(first);
    const wish = this.wishes.find((w) => w.run_id === first);
    if (!state || !wish) {
      return json(404, { code: "not_found", detail: `there is no run ${first}` });
    }
    if (init.method !== "POST") {
      return json(200, { run_id: first, job: wish.job, status: state.status, attempts: [{ attempt: 1, ...state }] });
    }
    if (hasEnded(state.status)) {
      return json(409, { code: "conflict", detail: `run ${first} is ${state.status}` });
    }
    this.#states.set(first, { status: "cancelled" });
    return json(202, { run_id: first, found: state.status });
  }

  #run(job: string, sent: Omit<Wish, "job">): object {
    const wish = { ...sent, job };
    this.wishes.push(wish);
    const accepted = { run_id: wish.run_id, job, version: 1 };
    const due = dueOf(wish);
    if (due === undefined) {
      this.#states.set(wish.run_id, this.#ends.get(job) ?? { status: "succeeded" });
      return { ...accepted, status: "pending" };
    }
    this.#states.set(wish.run_id, { status: "queued", due });
    return { ...accepted, status: "queued", due };
  }

  #waiting(job: string | null): object[] {
    return this.wishes.flatMap((wish) => {
      const state = this.#states.get(wish.run_id);
      return wish.job === job && state?.status === "queued" ? [{ run_id: wish.run_id, job, version: 1, status: "queued", fire_time: state.due }] : [];
    });
  }
}

function dueOf(wish: Wish): string | undefined {
  return wish.at ?? (wish.in === undefined ? undefined : new Date(Date.now() + milliseconds(wish.in)).toISOString());
}

function json(status: number, body: object): Response {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": status < 300 ? "application/json" : "application/problem+json" } });
}
