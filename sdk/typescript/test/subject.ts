/** The executor for `carillon conformance`. */

import { setTimeout as sleep } from "node:timers/promises";

import { Executor } from "@carillon-scheduler/executor";

const app = new Executor({ slots: 4, grace: "2s" });

app.handler("echo", async (run) => run.params);

app.handler("item", async (run) => run.item);

app.handler<{ message: string }>("fail", (run) => {
  throw new Error(run.params.message);
});

app.handler<{ seconds: number }>("sleep", async (run) => {
  for (const end = Date.now() + run.params.seconds * 1000; Date.now() < end; ) {
    run.progress(50, "asleep");
    await sleep(Math.min(200, Math.max(end - Date.now(), 0)), undefined, { signal: run.signal });
  }
});

app.handler<{ count: number }>("lines", (run) => {
  const width = run.params.count === 50_000 ? 1000 : 0; // more than waits, for the case whose lines are dropped
  for (let i = 1; i <= run.params.count; i++) {
    run.log.info(`line ${i}`.padEnd(width));
  }
});

app.handler("long", (run) => run.log.info("x".repeat(100_000)));

app.handler<{ bytes: number; seconds: number }>("large", async (run) => {
  const text = "x".repeat(run.params.bytes);
  run.progress(50, text);
  await sleep(run.params.seconds * 1000);
  return text;
});

app.handler<{ seconds: number }>("stubborn", async (run) => {
  await sleep(run.params.seconds * 1000);
});

app.handler<{ jobs: string[] }>("start", async (run) => {
  const ids: string[] = [];
  for (const job of run.params.jobs) {
    ids.push(await run.start(job, { n: 1 }));
  }
  return ids;
});

app.handler("nan", () => ({ ratio: Number.NaN }));

void app.run();
