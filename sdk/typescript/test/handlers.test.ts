import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { z } from "zod";

import { currentRun, Executor, Final, Logger, RetryAfter, TimedOut } from "../src/index";
import { runHandler } from "../src/testing";

const Report = z.object({ region: z.string(), rows: z.number().int().default(0) });

function app(): Executor {
  return new Executor({ group: "billing" })
    .handler("report", { params: Report, result: z.object({ written: z.number() }), description: "Writes a report" }, async (run) => {
      run.log.info("begun", { region: run.params.region, note: "two words" });
      await sleep(1);
      console.warn("slow %d", 7);
      run.progress(50, `half of ${run.secrets.TOKEN}`);
      return { written: run.params.rows };
    })
    .handler<string>("broken", (run) => {
      throw { final: new Final("no such customer"), later: new RetryAfter("90s", "busy") }[run.params] ?? new TypeError(run.params);
    })
    .handler("known", async (run) => {
      await sleep(1);
      return { known: currentRun() === run, piece: run.piece, attempt: run.attempt, item: run.item, fired: run.fireTime instanceof Date };
    })
    .handler("nan", () => ({ ratio: Number.NaN }))
    .handler("slow", async (run) => await sleep(30_000, undefined, { signal: run.signal }));
}

test("a handler is tested without a broker", async (t) => {
  const said = t.mock.method(console, "warn", () => {});
  const end = await runHandler(app(), "report", { region: "north", rows: 3 }, { secrets: { TOKEN: "s3cret-value" } });
  assert.deepEqual([end.status, end.message, end.result], ["succeeded", "", { written: 3 }]);
  assert.deepEqual(end.lines, ['begun region=north note="two words"', "slow 7"]);
  assert.deepEqual(end.progress, [{ percent: 50, text: "half of ***" }]);
  assert.deepEqual(said.mock.calls[0]?.arguments, ["slow %d", 7]);
});

test("a handler knows its run", async () => {
  const end = await runHandler(app(), "known", undefined, { attempt: 2, piece: { index: 1, total: 3 }, item: "x" });
  assert.deepEqual(end.result, { known: true, piece: { index: 1, total: 3 }, attempt: 2, item: "x", fired: true });
  assert.equal(currentRun(), undefined);
});

test("an error says what shall become of the run", async () => {
  for (const [params, final, retryAfter, message] of [["final", true, undefined, "no such customer"], ["later", false, 90_000, "busy"], ["x", false, undefined, "TypeError: x"]] as const) {
    const end = await runHandler(app(), "broken", params);
    assert.deepEqual([end.status, end.final, end.retryAfter, end.message], ["failed", final, retryAfter, message]);
  }
});

test("a result that JSON cannot hold is left out, with the place", async () => {
  const end = await runHandler(app(), "nan");
  assert.deepEqual([end.status, end.result], ["succeeded", undefined]);
  assert.match(end.message, /the result was left out: result\.ratio is NaN/);
});

test("a timeout and a cancellation abort the run's signal", async () => {
  assert.deepEqual(await runHandler(app(), "slow", undefined, { timeout: "20ms" }).then((e) => [e.status, e.message]), ["timed_out", "took longer than its timeout of 20ms"]);
  assert.equal((await runHandler(app(), "slow", undefined, { cancel: AbortSignal.abort() })).status, "cancelled");
});

class NotFound extends Error {}

const speechless = new TypeError("x");
Object.defineProperty(speechless, "message", {
  get: () => {
    throw new Error("no words");
  },
});

test("the message of a failure names its class", async () => {
  const cases: [thrown: unknown, message: string][] = [
    [new Error("plain"), "plain"],
    [new RangeError("too far"), "RangeError: too far"],
    [new NotFound("no such row"), "NotFound: no such row"],
    [new TypeError(), "TypeError"],
    ["a text", "a text"],
    [new TimedOut("of its own"), "of its own"],
    [speechless, "TypeError"],
    [new AggregateError([new RangeError("a"), new AggregateError(["b"], "few"), new Error("c")], "many"), "AggregateError: many: RangeError: a; AggregateError: few: b; c"],
  ];
  for (const [thrown, message] of cases) {
    const end = await runHandler(new Executor({ group: "g" }).handler("h", () => Promise.reject(thrown)), "h");
    assert.deepEqual([end.status, end.message], ["failed", message]);
  }
});

test("an error that nobody expects is in the log with its stack", async () => {
  const end = await runHandler(new Executor({ group: "g" }).handler("h", () => Promise.reject(new NotFound("no such row"))), "h");
  assert.match(end.lines.join("\n"), /no such row\n\s+at .*handlers\.test/);
});

test("what a handler says after its time follows the reason", async () => {
  const app = new Executor({ group: "g" }).handler("h", async (run) => {
    await sleep(30_000, undefined, { signal: run.signal }).catch(() => {});
    assert.ok(run.ending instanceof TimedOut);
    throw new RangeError("too far");
  });
  assert.equal((await runHandler(app, "h", undefined, { timeout: "20ms" })).message, "took longer than its timeout of 20ms; RangeError: too far");
});

test("a handler that ignores its signal is left behind, and its message says so", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const end = runHandler(new Executor({ group: "g" }).handler("h", () => new Promise(() => {})), "h", undefined, { cancel: AbortSignal.abort() });
  await new Promise(setImmediate);
  t.mock.timers.tick(10_000);
  assert.equal((await end).message, "cancelled by the test; the handler did not stop within 10s and was abandoned");
});

test("a test sets the fire time and the cause", async () => {
  const app = new Executor({ group: "g" }).handler("h", (run) => [run.fireTime.toISOString(), run.cause]);
  const end = await runHandler(app, "h", undefined, { fireTime: new Date("2026-01-05T02:00:00Z"), cause: "backfill" });
  assert.deepEqual(end.result, ["2026-01-05T02:00:00.000Z", "backfill"]);
});

test("a handler knows the step that it does", async () => {
  const app = new Executor({ group: "g" }).handler("h", (run) => [run.step, run.cause]);
  assert.deepEqual((await runHandler(app, "h", undefined, { step: "load" })).result, ["load", "step"]);
  assert.deepEqual((await runHandler(app, "h")).result, ["", "schedule"]);
});

test("a result that refers to itself is left out with a note", async () => {
  const result: Record<string, unknown> = {};
  result.self = [result];
  const end = await runHandler(new Executor({ group: "g" }).handler("h", () => result), "h");
  assert.deepEqual([end.status, end.result], ["succeeded", undefined]);
  assert.match(end.message, /the result was left out: result\.self\[0\] refers back/);
});

test("parameters and results that do not fit fail the run, with the place", async () => {
  const end = await runHandler(app(), "report", { reigon: "north" });
  assert.equal(end.status, "failed");
  assert.match(end.message, /^params of handler report: region: /);
  const wrong = new Executor({ group: "g" }).handler("h", { result: z.object({ n: z.number() }) }, () => JSON.parse('{"n": "one"}'));
  assert.match((await runHandler(wrong, "h")).message, /^result of handler h: n: /);
});

test("zod schemas are announced as JSON Schema, and other schemas by their own", () => {
  const h = app().handlers.get("report");
  assert.deepEqual((h?.paramsSchema?.properties as Record<string, unknown>).region, { type: "string" });
  assert.deepEqual(h?.resultSchema?.required, ["written"]);
  const own = { type: "object" };
  const given = new Executor({ group: "g" }).handler("h", { paramsSchema: own }, () => 1);
  assert.equal(given.handlers.get("h")?.paramsSchema, own);
  const dates = new Executor({ group: "g" }).handler("h", { params: z.object({ at: z.date() }) }, () => 1);
  assert.equal(dates.handlers.get("h")?.paramsSchema, undefined);
});

test("middleware is called around handlers, the first one outermost", async () => {
  const order: string[] = [];
  const around = (name: string) => async (_: unknown, next: () => Promise<unknown>) => {
    order.push(`${name} in`);
    const result = await next();
    order.push(`${name} out`);
    return { [name]: result };
  };
  const end = await runHandler(new Executor({ group: "g" }).use(around("a")).use(around("b")).handler("h", () => 7), "h");
  assert.deepEqual(end.result, { a: { b: 7 } });
  assert.deepEqual(order, ["a in", "b in", "b out", "a out"]);
});

test("what handlers share is opened before the first run, and closed after the last", async () => {
  const order: string[] = [];
  const pool = (name: string) => async () => {
    order.push(`${name} opened`);
    return async () => void order.push(`${name} closed`);
  };
  const app = new Executor({ group: "g", nats: "nats://127.0.0.1:9", logger: new Logger(() => order.push("serves")) }).setup(pool("a")).setup(() => {}).setup(pool("b"));
  app.stop();
  await app.serve();
  assert.deepEqual(order, ["a opened", "b opened", "b closed", "a closed"]);
});

test("a set-up that fails ends the executor, and what was opened is closed", async () => {
  let closed = false;
  const app = new Executor({ group: "g", nats: "nats://127.0.0.1:9" }).setup(() => () => {
    closed = true;
  });
  app.setup(() => Promise.reject(new Error("no database")));
  await assert.rejects(app.serve(), /no database/);
  assert.ok(closed);
});

test("a wrong handler is refused", () => {
  assert.throws(() => app().handler("report", () => 1), /"report" must be a name .* that no other has/);
  assert.throws(() => app().handler("", () => 1), /1 to 255/);
  assert.throws(() => app().handler("x", { slots: 0 }, () => 1), /slots of handler "x"/);
});

test("types of parameters and results follow from schemas", () => {
  const result = z.object({ written: z.number() });
  new Executor({ group: "g" })
    .handler("a", { params: Report }, (run) => run.params.rows.toFixed(2))
    // @ts-expect-error there is no such parameter
    .handler("b", { params: Report }, (run) => run.params.reigon)
    // @ts-expect-error written is a number
    .handler("c", { result }, () => ({ written: "three" }))
    // @ts-expect-error without a schema nothing is known of them
    .handler("d", (run) => run.params.rows);
});

test("runs at the same time have their own console lines", async (t) => {
  t.mock.method(console, "log", () => {});
  const both = new Executor({ group: "g" }).handler<string>("h", async (run) => {
    await sleep(1);
    console.log(run.params);
  });
  const ends = await Promise.all([runHandler(both, "h", "one"), runHandler(both, "h", "two")]);
  assert.deepEqual(ends.map((e) => e.lines), [["one"], ["two"]]);
});
