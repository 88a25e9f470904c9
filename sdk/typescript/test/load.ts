/** The executor for load: see internal/e2e/load/main.go, which has the same handlers. */

import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { Executor } from "@carillon-scheduler/executor";

const app = new Executor();

app.handler("noop", () => undefined);

app.handler<{ seconds: number; attempts: number }>("journal", async (run) => {
  appendFileSync(process.env.JOURNAL ?? "", `${run.id} ${run.delivered}\n`);
  run.log.info("journal written");
  await sleep(run.params.seconds * 1000, undefined, { signal: run.signal });
  if (run.attempt < run.params.attempts) {
    throw new Error("this attempt has to fail");
  }
});

app.handler("halt", (run) => {
  appendFileSync(process.env.JOURNAL ?? "", `${run.id} ${run.delivered}\n`);
  process.exit(3);
});

void app.run();
