import assert from "node:assert/strict";
import { before, test } from "node:test";

import { type Attributes, metrics, type Span, trace } from "@opentelemetry/api";

import { Executor, Stopping } from "../src/index";
import { fireTrace } from "../src/telemetry";
import { Trigger } from "../src/trigger";
import { instanceOf, message, raw, REPLY, trigger } from "./nats";

const counted: Array<[name: string, value: number, attributes: Attributes]> = [];
const spans: Array<{ name: string; parent: string | undefined; attributes: Attributes }> = [];

before(() => {
  const instrument = (name: string) => {
    const note = (value: number, attributes: Attributes) => counted.push([name, value, attributes]);
    return { add: note, record: note };
  };
  const meter = { createCounter: instrument, createHistogram: instrument, createObservableGauge: instrument, addBatchObservableCallback() {} };
  metrics.setGlobalMeterProvider({ getMeter: () => meter as never });
  const startSpan = (name: string, options: { attributes: Attributes }, context: Parameters<typeof trace.getSpanContext>[0]): Span => {
    const span = { name, parent: trace.getSpanContext(context)?.traceId, attributes: { ...options.attributes } };
    spans.push(span);
    const setAttribute = (key: string, value: string) => {
      span.attributes[key] = value;
    };
    const spanContext = () => ({ traceId: span.parent, spanId: "00f067aa0ba902b7", traceFlags: 1 });
    return { spanContext, setAttribute, setStatus() {}, end() {} } as unknown as Span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as never });
});

test("an attempt is counted, and is a span below its trigger's", async () => {
  const traceId = "019b8be1f500746c9285f6b4613a1707";
  let parent = "";
  const { instance, nats } = instanceOf(new Executor().handler("h", (run) => {
    parent = run.traceParent;
  }));
  instance.attempts.start(new Trigger(trigger().raw, "token", 1, `00-${traceId}-b7ad6b7169203331-01`), REPLY);
  await nats.until((s) => s.data === "+ACK");
  const labels = { executor_group: "g", instance_name: "i" };
  assert.deepEqual(counted.find(([name]) => name === "carillon.executor.runs"), ["carillon.executor.runs", 1, { ...labels, status: "succeeded" }]);
  const timed = counted.filter(([, , attributes]) => !("status" in attributes)).map(([name]) => name);
  assert.deepEqual(timed, ["carillon.executor.delivery_delay", "carillon.executor.start_delay", "carillon.executor.run"]);
  assert.deepEqual([spans[0]?.name, spans[0]?.parent, spans[0]?.attributes["carillon.status"]], ["run g/a", traceId, "succeeded"]);
  assert.equal(parent, `00-${traceId}-00f067aa0ba902b7-01`);
});

test("a trigger that is given back is counted, whatever the reason", async () => {
  let begun = () => {};
  const working = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const { instance, nats } = instanceOf(new Executor().handler("h", async (run) => {
    begun();
    await new Promise((_, reject) => run.signal.addEventListener("abort", () => reject(run.signal.reason)));
  }));
  const naks = (n: number) => nats.until(() => nats.of(REPLY).filter((answer) => answer.startsWith("-NAK")).length === n);
  const count = (name: string) => counted.filter(([of]) => of === `carillon.executor.${name}`).length;
  instance.slots = 0;
  instance.attempts.take(message("inbox", raw(), { reply: REPLY }));
  await naks(1);
  assert.equal(count("runs_given_back"), 1);

  nats.answer = () => new Error("no server");
  instance.attempts.take(message("inbox", raw({ task: { handler: "nowhere" } }), { reply: REPLY }));
  await naks(2);
  assert.deepEqual([count("runs_given_back"), count("triggers_handed_over")], [2, 0]);

  instance.attempts.start(trigger(), REPLY);
  await working;
  for (const attempt of instance.attempts.live.values()) {
    attempt.end(new Stopping("the executor is stopping"));
  }
  nats.answer = () => ({ stream: "LOG", seq: 1 });
  await naks(3);
  assert.equal(count("runs_given_back"), 3);
});

test("a run whose trigger has no trace has that of its id", () => {
  const run = "019b8be1-f500-746c-9285-f6b4613a1707";
  assert.equal(fireTrace(run, 1), "00-019b8be1f500746c9285f6b4613a1707-71a8b91e65d3980d-01");
  assert.equal(fireTrace(run, 12), "00-019b8be1f500746c9285f6b4613a1707-f54acda7068bb30d-01");
});
