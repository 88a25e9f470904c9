/** Runs of other jobs that a handler starts. */

import type { Bus } from "./bus";
import { StartRefused, textOf } from "./errors";
import { parse, stringify } from "./json";
import { milliseconds, monotonic, pause } from "./time";
import { ACK, TOKEN } from "./wire";

/** In milliseconds: how long a server may take, how long a request is repeated that none can answer, and the first wait before that. */
export const timing = { answer: 10_000, patience: 60_000, again: 200 };

/** What may be said of a run that is started. */
export interface StartOptions {
  /** When it is due. */
  at?: Date;
  /** A duration, or seconds, after which it is due. */
  in?: string | number;
  /** A duration, or seconds: the run is missed if it has not begun that long after it was due. */
  expires?: string | number;
  /** In the place of the job's. */
  labels?: Record<string, string>;
}

/** The request for a run, as servers get it. */
export interface Wish {
  job: string;
  params?: unknown;
  at?: string;
  in?: string;
  expires?: string;
  labels?: Record<string, string>;
  /** How many equal ones the attempt has made before. */
  count: number;
}

/** Makes the requests of one attempt. */
export class Wishes {
  private readonly equal = new Map<string, number>();

  next(job: string, params: unknown, options: StartOptions): Wish {
    const text = params === undefined ? "" : stringify(sorted(parse(stringify(params))));
    const wish: Wish = {
      job,
      ...(text !== "" && { params: parse(text) }),
      ...(options.at && { at: options.at.toISOString() }),
      ...(options.in !== undefined && { in: durationOf(options.in) }),
      ...(options.expires !== undefined && { expires: durationOf(options.expires) }),
      ...(options.labels && { labels: options.labels }),
      count: 0,
    };
    const key = `${job} ${text}`;
    wish.count = this.equal.get(key) ?? 0;
    this.equal.set(key, wish.count + 1);
    return wish;
  }
}

function durationOf(value: string | number): string {
  return `${Math.round(typeof value === "number" ? value * 1000 : milliseconds(value))}ms`;
}

/** A JSON value with the keys of its objects in order, so that equal values have one text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(sorted);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, part]) => [key, sorted(part)]));
}

/** Have a server start a run, and return its id. */
export async function ask(bus: Bus, group: string, token: string, ack: string, wish: Wish): Promise<string> {
  const until = monotonic() + timing.patience;
  for (let wait = timing.again; ; wait = Math.min(2 * wait, 5000)) {
    const answer = await once(bus, group, token, ack, stringify(wish));
    if (answer.fault === undefined) {
      return String(answer.value?.run_id);
    }
    if (answer.fault.kind !== "unavailable" || monotonic() + wait > until) {
      throw new StartRefused(answer.fault.kind, answer.fault.text);
    }
    await pause(wait);
  }
}

interface Answer {
  value?: { run_id: string };
  fault?: { kind: string; text: string };
}

async function once(bus: Bus, group: string, token: string, ack: string, data: string): Promise<Answer> {
  try {
    const m = await bus.request(`start.${group}`, data, { headers: { [TOKEN]: token, [ACK]: ack }, timeout: timing.answer });
    return JSON.parse(m.string()) as Answer;
  } catch (e) {
    return { fault: { kind: "unavailable", text: `no server answers: ${textOf(e)}` } };
  }
}
