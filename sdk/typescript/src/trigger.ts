/** A trigger: one attempt that is given to this executor. */

import { textOf } from "./errors";
import { parse } from "./json";
import { instant, milliseconds } from "./time";
import { Garbage } from "./wire";

/** What the SDK reads of a trigger. Other fields are kept as they are. */
export interface RawTrigger {
  run_id: string;
  job: string;
  version?: unknown;
  shard: number;
  attempt: number;
  cause?: string;
  step?: string;
  fire_time?: string;
  committed_at?: string;
  delivery?: string;
  timeout?: string;
  start_by?: string;
  end_by?: string;
  warn_after?: string;
  broadcast_index?: number;
  broadcast_total?: number;
  item?: unknown;
  params?: unknown;
  split?: boolean;
  /** Where the end may go in a pack; absent if somebody waits for it. */
  report?: string;
  retry?: { limit?: number; on?: string[]; exit_codes?: number[] };
  task: Record<string, unknown> & { handler?: string; secrets?: Record<string, string> };
}

/** Fields that every event copies. */
const COPIED = ["run_id", "job", "version", "shard", "attempt", "cause", "fire_time", "committed_at"] as const;

export class Trigger {
  readonly index: number;
  readonly total: number;
  readonly timeout: number;
  readonly warnAfter: number;
  readonly startBy: Date | undefined;
  readonly endBy: Date | undefined;
  readonly fireTime: Date;

  /** Throws Garbage, so that nothing goes wrong later, when the attempt is known. */
  constructor(
    readonly raw: RawTrigger,
    readonly token: string,
    /** How often it has come, here or elsewhere. */
    public delivered = 1,
    readonly trace = "",
  ) {
    check(raw);
    this.index = raw.broadcast_index ?? 0;
    this.total = raw.broadcast_total ?? 0;
    this.timeout = read(raw, "timeout", milliseconds) ?? 0;
    this.warnAfter = read(raw, "warn_after", milliseconds) ?? 0;
    this.startBy = read(raw, "start_by", instant);
    this.endBy = read(raw, "end_by", instant);
    this.fireTime = read(raw, "fire_time", instant) ?? new Date();
  }

  get key(): string {
    return keyOf(this.raw.run_id, this.raw.attempt, this.index);
  }

  get runId(): string {
    return this.raw.run_id;
  }

  get group(): string {
    return this.raw.job.slice(0, this.raw.job.indexOf("/"));
  }

  /** The handler's name; "" for a task of another kind. */
  get handler(): string {
    return this.raw.task.handler ?? "";
  }

  get atMostOnce(): boolean {
    return this.raw.delivery === "at_most_once";
  }

  /** The Nats-Msg-Id of an event of that kind; more is what some kinds add. */
  messageId(kind: string, more = ""): string {
    const piece = this.total > 0 ? `${this.raw.attempt}.${this.index}` : String(this.raw.attempt);
    return `${this.runId}:${piece}:${kind}${more && `:${more}`}:${this.token}`;
  }

  /** Whether the job's rule has another attempt follow. Handlers have no exit codes. */
  again(status: string): boolean {
    const rule = this.raw.retry ?? {};
    if (this.raw.attempt > (rule.limit ?? 0) || !(rule.on ?? []).includes(status)) {
      return false;
    }
    return status !== "failed" || (rule.exit_codes ?? []).length === 0;
  }

  /** What an event, of any kind, repeats of the trigger. */
  about(): Record<string, unknown> {
    const about: Record<string, unknown> = {};
    for (const name of COPIED) {
      if (this.raw[name] !== undefined) {
        about[name] = this.raw[name];
      }
    }
    return { ...about, ...this.piece(), delivery: this.delivered };
  }

  /** The fields that say which piece of a run this is. */
  piece(): { broadcast_index?: number; broadcast_total?: number } {
    return this.total > 0 ? { broadcast_index: this.index, broadcast_total: this.total } : {};
  }
}

/** What tells an attempt from all others. */
export function keyOf(runId: unknown, attempt: unknown, index: unknown): string {
  return `${runId}-${attempt}-${index ?? 0}`;
}

/** Read a trigger of the group. Anything else is Garbage. */
export function decode(data: string, token: string, count: number, group: string, trace = ""): Trigger {
  let raw: unknown;
  try {
    raw = parse(data);
  } catch (e) {
    throw new Garbage(`not JSON: ${textOf(e)}`);
  }
  if (!isObject(raw)) {
    throw new Garbage("not an object");
  }
  const trigger = new Trigger(raw as unknown as RawTrigger, token, count, trace);
  if (trigger.group !== group) {
    throw new Garbage(`job ${trigger.raw.job} is of another group`);
  }
  return trigger;
}

function check(raw: RawTrigger): void {
  if (typeof raw.run_id !== "string" || !/^[0-9a-f-]{36}$/.test(raw.run_id)) {
    throw new Garbage("run_id is missing or wrong");
  }
  if (typeof raw.job !== "string" || raw.job.split("/").length !== 2) {
    throw new Garbage("job is missing or wrong");
  }
  const total = raw.broadcast_total ?? 0;
  const index = raw.broadcast_index ?? 0;
  if (!isWhole(raw.attempt, 1) || !isWhole(total, 0) || !isWhole(index, 0) || index >= Math.max(total, 1)) {
    throw new Garbage("attempt, broadcast_index or broadcast_total is missing or wrong");
  }
  if (!isObject(raw.task) || !isWhole(raw.shard, 0)) {
    throw new Garbage("task or shard is missing or wrong");
  }
  const { handler, secrets } = raw.task;
  if ((handler !== undefined && typeof handler !== "string") || !isObject(secrets ?? {})) {
    throw new Garbage("task.handler must be a text, and task.secrets an object");
  }
  const rule: unknown = raw.retry ?? {};
  if (!isObject(rule) || !isWhole(rule.limit ?? 0, 0) || !Array.isArray(rule.on ?? []) || !Array.isArray(rule.exit_codes ?? [])) {
    throw new Garbage("retry is wrong");
  }
  const [group] = raw.job.split("/");
  if (raw.report !== undefined && !(/^evt\.p[0-9]+\.[^.]+$/.test(String(raw.report)) && String(raw.report).endsWith(`.${group}`))) {
    throw new Garbage(`report must be evt.p<partition>.${group}`);
  }
}

function read<T>(raw: RawTrigger, name: keyof RawTrigger, parse: (text: string) => T): T | undefined {
  const value = raw[name] ?? "";
  if (value === "") {
    return undefined;
  }
  if (typeof value !== "string") {
    throw new Garbage(`${name} must be a text`);
  }
  try {
    return parse(value);
  } catch (e) {
    throw new Garbage(`${name}: ${textOf(e)}`);
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isWhole(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}
