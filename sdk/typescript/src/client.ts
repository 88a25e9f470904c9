/**
 * Runs jobs from the code of an application, by the HTTP API. It needs `fetch` only.
 *
 * A call of `run` makes one run. It sends a random `run_id` and repeats the request with it, for
 * 30 s, while servers are away or the connection breaks; servers remember a `run_id` for five
 * minutes. Calls with the same `key` make one run, too. `Unavailable` leaves open whether there is a
 * run. After other errors there is none.
 */

import { ClientError, InvalidParams, invalid, NotFound, type Problem, problemIn, Unavailable, WaitTimeout } from "./client_errors";
import { againFirst, againFor, againMost, type Fetch, repeatAfter, Sender } from "./client_send";
import { milliseconds } from "./time";

export { ClientError, Ended, Forbidden, InvalidParams, KeyInUse, NotFound, TooMany, Unavailable, WaitTimeout } from "./client_errors";
export { Memory, type Wish } from "./client_memory";

/** Where `carillon dev` listens. */
export const defaultServer = "http://127.0.0.1:8822";

// How often a run is looked up while somebody waits for its end, in seconds, after pauses that double.
const waitFirst = 0.25;
const waitMost = 5;
/** The seconds that the history may need to show a run. */
const newFor = 30;

/** The status of a run. "ended": its key is known, and the history does not keep the run any more. */
export type Status = "pending" | "queued" | "running" | "succeeded" | "failed" | "timed_out" | "cancelled" | "lost" | "skipped" | "missed" | "ended";

const endings: readonly Status[] = ["succeeded", "failed", "timed_out", "cancelled", "lost", "skipped", "missed", "ended"];

/** Whether a run with this status has ended. */
export function hasEnded(status: Status): boolean {
  return endings.includes(status);
}

/** A duration such as "1h", or seconds. */
export type Duration = string | number;

export interface ClientOptions {
  /** An address such as https://carillon.example.com. Defaults to that of `carillon dev`. */
  server?: string;
  /** An API token. Defaults to none, as for `carillon dev`. */
  token?: string;
  /** What sends requests, for example with certificates of your own. Defaults to the global `fetch`. */
  fetch?: Fetch;
}

export interface RunOptions {
  /** The instant at which the run begins, at most 366 days ahead. */
  at?: Date;
  /** How long after now the run begins, by the clock of the server. */
  in?: Duration;
  /** By when the run must have begun: an instant, or a duration after it is due. Later, it is missed. */
  expires?: Date | Duration;
  /** Instead of the labels of the job. */
  labels?: Record<string, string>;
  /**
   * 1 to 256 bytes for which the job makes one run, until seven days after that is due and while it
   * is alive: other calls with the key return that run.
   */
  key?: string;
  /** Makes another run although the one with the key has ended. */
  reset?: boolean;
  /** Ends the call. It is then unknown whether there is a run. */
  signal?: AbortSignal;
}

/** A run to ask for: the arguments of `Client.run`. */
export interface RunRequest extends Omit<RunOptions, "signal"> {
  job: string;
  params?: unknown;
}

export interface WaitOptions {
  /** How long to wait. Defaults to for ever. */
  timeout?: Duration;
  signal?: AbortSignal;
}

/** What a run is like. */
export interface State {
  id: string;
  job: string;
  status: Status;
  /** Why it failed, waits or did not run; "" without a reason. */
  reason: string;
  /** What the handler returned; undefined if there is nothing. */
  result: unknown;
}

/** A run that a server has accepted. */
export class Run {
  readonly #client: Client;

  /** @internal */
  constructor(
    readonly id: string,
    readonly job: string,
    readonly version: number,
    /** When it was accepted or listed. */
    readonly status: Status,
    /** When it is due, if that is later. */
    readonly due: Date | undefined,
    /** Whether a request before this one made it. */
    readonly existed: boolean,
    /** Why it is queued or skipped; "" without a reason. */
    readonly reason: string,
    client: Client,
  ) {
    this.#client = client;
  }

  /** Waits for the end of the run, as `Client.wait` does. */
  wait(options?: WaitOptions): Promise<State> {
    return this.#client.wait(this.id, options);
  }

  /** Cancels the run, as `Client.cancel` does. */
  cancel(reason?: string): Promise<void> {
    return this.#client.cancel(this, reason);
  }
}

interface Accepted {
  run_id: string;
  job: string;
  version: number;
  status: Status;
  due?: string;
  fire_time?: string;
  existed?: boolean;
  reason?: { text: string };
}

interface BatchItem {
  accepted?: Accepted;
  problem?: Problem;
}

interface Detail {
  run_id: string;
  job: string;
  status: Status;
  attempts?: { message?: { text: string }; reason?: { text: string }; result?: unknown }[];
}

/** The API of a server. */
export class Client {
  /** @internal */
  readonly sender: Sender;

  constructor(options: ClientOptions = {}) {
    const given = options.server || defaultServer;
    const server = given.includes("://") ? given : `http://${given}`;
    if (!/^https?:\/\/[^/]/.test(server) || !URL.canParse(server)) {
      throw invalid("server", "must be an address such as https://carillon.example.com");
    }
    this.sender = new Sender(server.replace(/\/$/, ""), options.token ?? "", options.fetch ?? ((url, init) => fetch(url, init)));
  }

  /** A client for the server in CARILLON_SERVER with the token in CARILLON_TOKEN. */
  static fromEnvironment(): Client {
    const { CARILLON_SERVER: server = "", CARILLON_TOKEN: token = "" } = process.env;
    return new Client({ server, token });
  }

  /**
   * Makes a run of a job, `group/name`. It is stored when this resolves, and goes on without this
   * program. `params` are anything that JSON can express, instead of the parameters of the job.
   */
  async run(job: string, params?: unknown, options: RunOptions = {}): Promise<Run> {
    const path = `${pathOf(job)}/run`;
    const { signal } = options;
    const ask = (at: number): Promise<Accepted> => this.sender.ask<Accepted>({ method: "POST", path, body: wish(params, options, at), signal });
    try {
      return this.accepted(await ask(this.sender.now()));
    } catch (error) {
      if (error instanceof InvalidParams && error.field === "run_id" && error.date !== undefined) {
        return this.accepted(await ask(error.date)); // the clock of this machine is wrong
      }
      throw error;
    }
  }

  /**
   * Makes up to 500 runs with one request, and resolves to a run or an error for each, in that order.
   * Rejects only if no server answered for any of them.
   */
  async runMany(requests: readonly RunRequest[], { signal }: { signal?: AbortSignal } = {}): Promise<(Run | ClientError)[]> {
    const results = new Map<number, Run | ClientError>();
    const entries = requests.map((request) => ({ job: request.job, run: wish(request.params, request, this.sender.now()) }));
    requests.forEach(({ job }, i) => {
      if (!isJob(job)) {
        results.set(i, noJob());
      }
    });
    const accept = async (open: number[]): Promise<number[]> => {
      const body = { runs: open.map((i) => entries[i]) };
      const { items = [] } = open.length === 0 ? {} : await this.sender.ask<{ items?: BatchItem[] }>({ method: "POST", path: "/api/v1/runs/batch", body, signal });
      if (items.length !== open.length) {
        throw new ClientError(`${this.sender.server} did not answer for each run`);
      }
      items.forEach(({ accepted, problem }, n) => results.set(open[n]!, accepted ? this.accepted(accepted) : problemIn(this.sender.server, problem)));
      return open.filter((i) => results.get(i) instanceof Unavailable);
    };
    let open = await accept([...requests.keys()].filter((i) => !results.has(i)));
    const begun = this.sender.elapsed();
    for (let next = againFirst; open.length > 0 && this.sender.elapsed() - begun + next <= againFor; next = Math.min(2 * next, againMost)) {
      try {
        await this.sender.pause(next, signal);
        open = await accept(open);
      } catch {
        break; // the errors from before stand
      }
    }
    return Promise.all(
      requests.map(async ({ job, params, ...options }, i) => {
        const result = results.get(i)!;
        if (!(result instanceof InvalidParams && result.status !== 0 && result.field === "run_id")) {
          return result;
        }
        try {
          return await this.run(job, params, signal ? { ...options, signal } : options); // with the time of the server
        } catch (error) {
          return error instanceof ClientError ? error : result;
        }
      }),
    );
  }

  /** What a run is like now. */
  async status(run: Run | string): Promise<State> {
    return stateOf(await this.sender.ask<Detail>({ method: "GET", path: pathOfRun(run) }));
  }

  /**
   * Waits for the end of a run. It goes on while servers are away. After the timeout it throws a
   * `WaitTimeout`, and the run goes on.
   */
  async wait(run: Run | string, { timeout, signal }: WaitOptions = {}): Promise<State> {
    const begun = this.sender.elapsed();
    const limit = timeout === undefined ? Infinity : seconds(timeout);
    for (let next = waitFirst; ; next = Math.min(2 * next, waitMost)) {
      let wait = next;
      try {
        const state = stateOf(await this.sender.send<Detail>({ method: "GET", path: pathOfRun(run), signal }));
        if (hasEnded(state.status)) {
          return state;
        }
      } catch (error) {
        const again = repeatAfter(error, next);
        if (again === undefined && !(error instanceof NotFound && this.sender.elapsed() - begun < newFor)) {
          throw error;
        }
        wait = again ?? next;
      }
      const left = limit - (this.sender.elapsed() - begun);
      if (left <= 0) {
        throw new WaitTimeout(`run ${typeof run === "string" ? run : run.id} has not ended after ${limit} s`);
      }
      await this.sender.pause(Math.min(wait, left), signal);
    }
  }

  /** Cancels a run that waits or runs. The reason is for the audit log. */
  async cancel(run: Run | string, reason?: string): Promise<void> {
    const body = { job: typeof run === "string" ? undefined : run.job, reason: reason || undefined };
    await this.sender.ask({ method: "POST", path: `${pathOfRun(run)}/cancel`, body, cancel: true });
  }

  /** Cancels the run of a job that has a key. Rejects with `NotFound` if no run has it. */
  async cancelKey(job: string, key: string, reason?: string): Promise<void> {
    await this.sender.ask({ method: "POST", path: `${pathOf(job)}/cancel`, body: { key, reason: reason || undefined }, cancel: true });
  }

  /** Lists the runs of a job that wait for their time, the latest first. */
  async *waiting(job: string): AsyncGenerator<Run, void, undefined> {
    pathOf(job);
    const query = new URLSearchParams({ waiting: "true", job });
    for (;;) {
      const page = await this.sender.ask<{ items?: Accepted[]; next?: string }>({ method: "GET", path: `/api/v1/runs?${query}` });
      for (const item of page.items ?? []) {
        yield this.accepted(item.fire_time === undefined ? item : { ...item, due: item.fire_time });
      }
      if (!page.next) {
        return;
      }
      query.set("cursor", page.next);
    }
  }

  private accepted(a: Accepted): Run {
    const due = a.due === undefined ? undefined : new Date(a.due);
    return new Run(a.run_id, a.job, a.version, a.status, due, a.existed ?? false, a.reason?.text ?? "", this);
  }
}

function stateOf(detail: Detail): State {
  const newest = detail.attempts?.[0];
  const reason = newest?.message?.text || newest?.reason?.text || "";
  return { id: detail.run_id, job: detail.job, status: detail.status, reason, result: newest?.result };
}

/** The body of a request for a run, with a random id. */
function wish(params: unknown, { at, in: after, expires, labels, key, reset }: RunOptions, now: number): object {
  return {
    params,
    labels,
    at: at?.toISOString(),
    in: after === undefined ? undefined : duration(after),
    expires: expires instanceof Date ? expires.toISOString() : expires === undefined ? undefined : duration(expires),
    key,
    reset,
    run_id: newRunId(now),
  };
}

function isJob(job: string): boolean {
  return /^[^/]+\/[^/]+$/.test(job);
}

function noJob(): InvalidParams {
  return invalid("job", "must be group/name, such as mail/welcome");
}

/** Where the API has a job. */
function pathOf(job: string): string {
  if (!isJob(job)) {
    throw noJob();
  }
  const [group = "", name = ""] = job.split("/");
  return `/api/v1/jobs/${encodeURIComponent(group)}/${encodeURIComponent(name)}`;
}

function pathOfRun(run: Run | string): string {
  return `/api/v1/runs/${encodeURIComponent(typeof run === "string" ? run : run.id)}`;
}

/** Writes a duration. */
function duration(d: Duration): string {
  if (typeof d === "string") {
    return d;
  }
  const ms = Math.round(d * 1000);
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
}

function seconds(d: Duration): number {
  return typeof d === "number" ? d : milliseconds(d) / 1000;
}

/** A random UUIDv7 of an instant, in milliseconds. */
function newRunId(at: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  bytes[0] = (bytes[0]! & 0x0f) | 0x70;
  bytes[2] = (bytes[2]! & 0x3f) | 0x80;
  const text = Math.round(at).toString(16).padStart(12, "0") + Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join("-");
}
