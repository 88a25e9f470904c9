/** Metrics and spans, if the program has @opentelemetry/api. Without it, nothing happens here. */

import type * as otel from "@opentelemetry/api";

import type { Outcome } from "./outcome";
import type { Trigger } from "./trigger";

const SCOPE = "@carillon-scheduler/executor";

/** What is counted, by the name of its metric. */
const COUNTS = {
  runs_given_back: "Triggers that were given back to the group, because the executor stops or nobody could take them.",
  triggers_handed_over: "Triggers that were handed to a server: delivered before, or not to be done here.",
  messages_refused: "Messages of this executor that servers said they refused, at most one a second.",
  handlers_abandoned: "Handlers that ignored their cancellation, and were left behind.",
  triggers_rejected: "Messages that were no triggers of the group.",
  event_publish_retries: "Finished events that had to be published again.",
  log_lines_dropped: "Log lines given up because the log stream did not take them.",
} as const;

/** The bounds of histograms, in seconds: those of the Go SDK. */
const BUCKETS = {
  delivery_delay: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 1800],
  start_delay: [0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 1, 5],
  run: [0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400],
};

export type Count = keyof typeof COUNTS;

/** The times of an attempt; started is absent if its handler was not called. */
export interface Times {
  came: Date;
  started: Date | undefined;
  ended: Date;
}

/** An attempt as a span. */
export interface Span {
  /** The W3C trace context for what the handler calls. */
  traceParent: string;
  /** Call the handler, as a part of the trace. */
  within<T>(work: () => T): T;
  end(outcome: Outcome): void;
}

export class Telemetry {
  private readonly api = load();
  private readonly meter: otel.Meter | undefined;
  private readonly counts = new Map<Count, otel.Counter>();
  private readonly runs: otel.Counter | undefined;
  private readonly delays: { delivery: otel.Histogram; start: otel.Histogram; run: otel.Histogram } | undefined;
  private readonly labels: Record<string, string>;
  private forget = (): void => {};

  constructor(group: string, instance: string) {
    this.labels = { executor_group: group, instance_name: instance };
    this.meter = this.api?.metrics.getMeter(SCOPE);
    if (this.meter === undefined) {
      return;
    }
    const meter = this.meter;
    const histogram = (name: keyof typeof BUCKETS, description: string) =>
      meter.createHistogram(`carillon.executor.${name}`, { description, unit: "s", advice: { explicitBucketBoundaries: BUCKETS[name] } });
    this.runs = meter.createCounter("carillon.executor.runs", { description: "Attempts that ended, by final status." });
    this.delays = {
      delivery: histogram("delivery_delay", "Time from the commit of a trigger until it came here."),
      start: histogram("start_delay", "Time from when a trigger came here until its handler was called."),
      run: histogram("run", "Time from when a handler was called to the end of its attempt."),
    };
    for (const [name, description] of Object.entries(COUNTS)) {
      this.counts.set(name as Count, meter.createCounter(`carillon.executor.${name}`, { description }));
    }
  }

  /** Observe the slots, until close. */
  observe(slots: () => { total: number; inUse: number }): void {
    const total = this.meter?.createObservableGauge("carillon.executor.slots", { description: "Runs that there may be at once." });
    const inUse = this.meter?.createObservableGauge("carillon.executor.slots_in_use", { description: "Runs that there are." });
    if (this.meter === undefined || total === undefined || inUse === undefined) {
      return;
    }
    const meter = this.meter;
    const look = (result: otel.BatchObservableResult) => {
      result.observe(total, slots().total, this.labels);
      result.observe(inUse, slots().inUse, this.labels);
    };
    meter.addBatchObservableCallback(look, [total, inUse]);
    this.forget = () => meter.removeBatchObservableCallback(look, [total, inUse]);
  }

  close(): void {
    this.forget();
  }

  count(what: Count, n = 1): void {
    if (n > 0) {
      this.counts.get(what)?.add(n, this.labels);
    }
  }

  /** Count how an attempt ended, and where its time went. One that is given back, with status "", has not ended. */
  ended(trigger: Trigger, outcome: Outcome, times: Times): void {
    if (outcome.status === "") {
      return;
    }
    this.runs?.add(1, { ...this.labels, status: outcome.status });
    if (times.started === undefined) {
      return;
    }
    const committed = new Date(trigger.raw.committed_at ?? times.came);
    this.delays?.delivery.record(between(committed, times.came), this.labels);
    this.delays?.start.record(between(times.came, times.started), this.labels);
    this.delays?.run.record(between(times.started, times.ended), this.labels);
  }

  /** Begin the span of an attempt, below that of its fire. */
  span(trigger: Trigger): Span {
    const api = this.api;
    if (api === undefined) {
      return { traceParent: trigger.trace, within: (work) => work(), end: () => {} };
    }
    const parent = parentOf(api, trigger.trace || fireTrace(trigger.runId, trigger.raw.attempt));
    const span = api.trace.getTracer(SCOPE).startSpan(`run ${trigger.raw.job}`, { kind: api.SpanKind.CONSUMER, attributes: this.attributes(trigger) }, parent);
    const context = api.trace.setSpan(parent, span);
    return {
      traceParent: written(api, span) || trigger.trace,
      within: (work) => api.context.with(context, work),
      end: (outcome) => {
        span.setAttribute(outcome.status === "" ? "carillon.given_back" : "carillon.status", outcome.status || true);
        if (outcome.status !== "succeeded" && outcome.status !== "") {
          span.setStatus({ code: api.SpanStatusCode.ERROR, message: outcome.message });
        }
        span.end();
      },
    };
  }

  private attributes(trigger: Trigger): otel.Attributes {
    return {
      "carillon.job": trigger.raw.job,
      "carillon.run_id": trigger.runId,
      "carillon.attempt": trigger.raw.attempt,
      "carillon.executor_group": this.labels.executor_group ?? "",
      "carillon.instance": this.labels.instance_name ?? "",
      "carillon.delivery": trigger.delivered,
      ...(trigger.total > 1 && { "carillon.broadcast_index": trigger.index, "carillon.broadcast_total": trigger.total }),
    };
  }
}

function load(): typeof otel | undefined {
  try {
    return require("@opentelemetry/api");
  } catch {
    return undefined; // it is not installed
  }
}

/** The W3C trace context of an attempt whose trigger has none, as servers compute it: the trace id is the run id. */
export function fireTrace(runId: string, attempt: number): string {
  const traceId = runId.replaceAll("-", "");
  let span = 0xcbf29ce484222325n;
  for (const byte of [...Buffer.from(traceId, "hex"), ...Buffer.from(String(attempt))]) { // FNV-1a
    span = ((span ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return `00-${traceId}-${(span | 1n).toString(16).padStart(16, "0")}-01`;
}

/** The context of a W3C traceparent. */
function parentOf(api: typeof otel, header: string): otel.Context {
  const [, traceId = "", spanId = "", flags = ""] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(header) ?? [];
  const at = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return api.isSpanContextValid(at) ? api.trace.setSpanContext(api.ROOT_CONTEXT, at) : api.ROOT_CONTEXT;
}

function written(api: typeof otel, span: otel.Span): string {
  const at = span.spanContext();
  return api.isSpanContextValid(at) ? `00-${at.traceId}-${at.spanId}-${at.traceFlags.toString(16).padStart(2, "0")}` : "";
}

function between(from: Date, to: Date): number {
  return Math.max(to.getTime() - from.getTime(), 0) / 1000 || 0;
}
