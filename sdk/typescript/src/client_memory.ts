/** A server in memory, for tests of applications. */

import { isDeepStrictEqual } from "node:util";

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
  key?: string;
}

interface Sent extends Omit<Wish, "job"> {
  reset?: boolean;
}

interface State {
  status: Status;
  result?: unknown;
  due?: string;
}

/**
 * A server that keeps the runs that were asked for in `wishes`, and ends them as the test wants.
 * Without `end`, runs succeed at once. Those with a time wait until they are cancelled. Keys are
 * never forgotten.
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
    const [, first = "", second = "", act] = parts;
    if (act === "cancel") {
      const { key } = JSON.parse(String(init.body)) as { key: string };
      const run = this.#keyed(`${first}/${second}`, key);
      return run ? this.#ofRun(run.run_id, true) : json(404, { code: "not_found", detail: "no run has this key" });
    }
    if (init.method === "POST" && parts.length === 4) {
      const { status, body } = this.#run(`${first}/${second}`, JSON.parse(String(init.body)) as Sent);
      return json(status, body);
    }
    if (init.method === "POST" && parts.length === 2) {
      const { runs } = JSON.parse(String(init.body)) as { runs: { job: string; run: Sent }[] };
      const items = runs.map(({ job, run }) => {
        const { status, body } = this.#run(job, run);
        return status < 300 ? { accepted: body } : { problem: { ...body, status } };
      });
      return json(200, { items });
    }
    if (parts.length === 1) {
      return json(200, { items: this.#waiting(url.searchParams.get("job")) });
    }
    return this.#ofRun(first, init.method === "POST");
  }

  /** Cancels a run, or returns it. */
  #ofRun(id: string, cancel: boolean): Response {
    const state = this.#states.get(id);
    const wish = this.wishes.find((w) => w.run_id === id);
    if (!state || !wish) {
      return json(404, { code: "not_found", detail: `there is no run ${id}` });
    }
    if (!cancel) {
      return json(200, { run_id: id, job: wish.job, status: state.status, attempts: [{ attempt: 1, ...state }] });
    }
    if (hasEnded(state.status)) {
      return json(409, { code: "conflict", detail: `run ${id} is ${state.status}` });
    }
    this.#states.set(id, { status: "cancelled" });
    return json(202, { run_id: id, found: state.status });
  }

  /** The latest run of a job with a key. */
  #keyed(job: string, key: string | undefined): Wish | undefined {
    return key === undefined ? undefined : this.wishes.findLast((w) => w.job === job && w.key === key);
  }

  #run(job: string, { reset, ...sent }: Sent): { status: number; body: object } {
    const had = this.#keyed(job, sent.key);
    if (had) {
      const { status } = this.#states.get(had.run_id)!;
      const differ = (["params", "labels"] as const).filter((field) => !isDeepStrictEqual(had[field], sent[field])).join(", ");
      if (!reset && differ === "") {
        return { status: 200, body: { run_id: had.run_id, job, version: 1, status, existed: true } };
      }
      if (!reset) {
        return keyInUse(had, `run ${had.run_id} has this key, with other ${differ}`, differ);
      }
      if (!hasEnded(status)) {
        return keyInUse(had, `run ${had.run_id}, which has this key, has not ended`, "");
      }
    }
    const wish = { ...sent, job };
    this.wishes.push(wish);
    const accepted = { run_id: wish.run_id, job, version: 1 };
    const due = dueOf(wish);
    if (due === undefined) {
      this.#states.set(wish.run_id, this.#ends.get(job) ?? { status: "succeeded" });
      return { status: 202, body: { ...accepted, status: "pending" } };
    }
    this.#states.set(wish.run_id, { status: "queued", due });
    return { status: 202, body: { ...accepted, status: "queued", due } };
  }

  #waiting(job: string | null): object[] {
    return this.wishes.flatMap((wish) => {
      const state = this.#states.get(wish.run_id);
      return wish.job === job && state?.status === "queued" ? [{ run_id: wish.run_id, job, version: 1, status: "queued", fire_time: state.due }] : [];
    });
  }
}

function keyInUse(wish: Wish, detail: string, fields: string): { status: number; body: object } {
  return { status: 409, body: { code: "key_in_use", detail, run_id: wish.run_id, reason: { text: detail, params: { fields } } } };
}

function dueOf(wish: Wish): string | undefined {
  return wish.at ?? (wish.in === undefined ? undefined : new Date(Date.now() + milliseconds(wish.in)).toISOString());
}

function json(status: number, body: object): Response {
  return new Response(JSON.stringify(body), { status, headers: { "Content-Type": status < 300 ? "application/json" : "application/problem+json" } });
}
