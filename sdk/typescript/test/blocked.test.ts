import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "node:test";

import { Executor, Logger } from "../src/index";
import { instanceOf, REPLY, trigger } from "./nats";

test("a handler that blocks the event loop is named, here and in its run's log, with what to do", async (t) => {
  let now = 1000;
  t.mock.method(performance, "now", () => now);
  const said: string[] = [];
  const app = new Executor().handler("h", () => {
    now += 5000; // as if it computed
  });
  const { instance, nats } = instanceOf(app, {}, new Logger((level, text) => said.push(`${level} ${text}`)));
  instance.blocked.start();
  instance.attempts.start(trigger(), REPLY);
  await nats.until((s) => s.data === "+ACK");
  await instance.blocked.close();
  assert.match(said[0] ?? "", /^warn the event loop was blocked for 4\.9 s.*handlers at work: h\).*node:worker_threads/);
  assert.match(nats.of(`log.g.${trigger().runId}`).join(), /blocked for 4\.9 s/);
});

test("a handler that never ends is named while it blocks", async () => {
  const program = `
    const { Blocked } = require(${JSON.stringify(join(__dirname, "../src/blocked.js"))});
    const blocked = new Blocked(undefined, new Map());
    blocked.start(40);
    blocked.begins("report");
    setTimeout(() => { for (;;); }, 50);
  `;
  const child = spawn(process.execPath, ["-e", program], { stdio: ["ignore", "ignore", "pipe"] });
  const [said] = await once(child.stderr, "data");
  child.kill("SIGKILL");
  assert.match(String(said), /WARN carillon: the event loop has been blocked .*the last run that began is of handler report.*node:worker_threads/);
});
