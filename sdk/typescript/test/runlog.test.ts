import assert from "node:assert/strict";
import { test } from "node:test";

import { BATCH_LINES, type Line, type Limits, OWN, Room, RunLog } from "../src/runlog";

function kept(delivered = 1, limits?: Limits, room?: Room) {
  const batches: Line[][] = [];
  const log = new RunLog(async (lines) => void batches.push(lines), delivered, limits, room);
  return { log, batches };
}

test("lines are numbered and come in batches", async () => {
  const { log, batches } = kept();
  for (let i = 1; i <= 1000; i++) {
    log.add("stdout", "info", `line ${i}`);
  }
  assert.equal(await log.close(), 1000);
  assert.deepEqual(batches.flat().map((l) => l.seq), Array.from({ length: 1000 }, (_, i) => i + 1));
  assert.ok(batches.every((b) => b.length <= BATCH_LINES));
});

test("the last line leaves out what the run has printed", async () => {
  const want = async (printed: string, message: string, text: string) => {
    const { log, batches } = kept();
    if (printed !== "") {
      log.add("stderr", "warn", printed);
    }
    log.end("failed", message);
    await log.close();
    assert.equal(batches.flat().at(-1)?.text, text);
  };
  await want("", "no route: bank", "the run ended as failed: no route: bank");
  await want("other", "no route: bank", "the run ended as failed: no route: bank");
  await want("no route: bank", "exit code 1: no route: bank", "the run ended as failed: exit code 1");
  await want("Error: bank\n    at pay", "Error: bank", "the run ended as failed");
  await want("no route", "cannot pay; no route; stop", "the run ended as failed: cannot pay; no route; stop");
  await want("a long line", "exit code 1: a long…", "the run ended as failed: exit code 1");
  await want("all went badly\n15 rows", "bad: 5", "the run ended as failed: bad: 5");
  await want("5 rows", "no slot: 5", "the run ended as failed: no slot: 5");
  await want(`early\n${"x\n".repeat(10 << 10)}`, "early", "the run ended as failed: early");
});

test("of the second delivery, lines are numbered from 1,000,000,001", async () => {
  const { log, batches } = kept(2);
  log.add("log", "info", "one\r\ntwo\rthree");
  await log.close();
  assert.deepEqual(batches.flat().map((l) => [l.seq, l.text]), [[1_000_000_001, "one"], [1_000_000_002, "two three"]]);
});

test("a batch fits a message, whatever its lines have in them", async () => {
  const { log, batches } = kept();
  for (let i = 0; i < 20; i++) {
    log.add("log", "info", "\u0001".repeat(30_000));
  }
  await log.close();
  assert.ok(batches.every((b) => Buffer.byteLength(JSON.stringify(b)) < 256 << 10));
});

test("while nothing is stored the oldest lines go, and one counts them", async () => {
  const batches: Line[][] = [];
  let store = () => {};
  const stored = new Promise<void>((resolve) => {
    store = resolve;
  });
  const log = new RunLog(async (lines) => {
    await stored;
    batches.push(lines);
  }, 1, undefined, new Room(1 << 20));
  const n = (2 << 20) / 32_000;
  for (let i = 0; i < n; i++) {
    log.add("stdout", "info", "x".repeat(32_000));
  }
  assert.ok(log.dropped >= n / 2 && log.dropped < n);
  store();
  await log.close();
  const lines = batches.flat();
  const told = lines.filter((l) => l.output === "system");
  assert.equal(told.length, 1);
  assert.equal(told[0]?.text, `${log.dropped} lines were dropped here: the log stream did not take them in time`);
  assert.deepEqual(lines.map((l) => l.seq), lines.map((l) => l.seq).sort((a, b) => a - b));
});

test("a burst of a hundred thousand lines is stored whole", async () => {
  const { log, batches } = kept();
  for (let i = 0; i < 100_000; i++) {
    log.add("log", "info", `line ${i + 1}`);
  }
  assert.equal(await log.close(), 100_000);
  assert.equal(batches.flat().length, 100_000);
  assert.equal(log.note, "");
});

test("flush waits until the lines so far are stored", async () => {
  const { log, batches } = kept(1, undefined, new Room(0));
  for (let i = 0; i < 50; i++) {
    for (let j = 0; j < 100; j++) {
      log.add("log", "info", `line ${i} ${j}`);
    }
    await log.flush();
    assert.equal(batches.flat().length, 100 * (i + 1));
  }
  await log.close();
  assert.equal(log.dropped, 0);
});

test("flush does not wait for a stream that takes nothing", async () => {
  const log = new RunLog(async () => {
    throw new Error("away");
  }, 1);
  log.add("log", "info", "one");
  await log.flush();
  log.abandon();
});

test("runs share the room, and each has some of its own", async () => {
  const room = new Room(1 << 20);
  const logs = [100, 20].map((lines) => {
    const log = new RunLog(() => new Promise(() => {}), 1, undefined, room);
    for (let i = 0; i < lines; i++) {
      log.add("log", "info", "x".repeat(10_000));
    }
    return log;
  });
  assert.equal(logs[0]?.dropped, 0);
  assert.ok((logs[1]?.dropped ?? 0) > 0);
  assert.match(logs[1]?.note ?? "", /^the log is incomplete: NATS did not take \d+ of 20 lines in time$/);
  for (const log of logs) {
    log.abandon();
  }
  assert.ok(room.take(1 << 20, OWN));
});

test("a run may keep one line, whatever its size", async () => {
  const { log, batches } = kept(1, undefined, new Room(0));
  log.add("log", "info", "\u0001".repeat(30_000));
  log.add("log", "info", "\u0001".repeat(30_000));
  await log.close();
  assert.deepEqual([log.dropped, batches.flat().length], [1, 2]);
});

test("lines that are not stored are sent again", async () => {
  const tries: number[] = [];
  const log = new RunLog(async (lines) => {
    tries.push(lines.length);
    if (tries.length < 3) {
      throw new Error("away");
    }
  }, 1);
  log.add("log", "info", "one");
  await log.close();
  assert.deepEqual(tries, [1, 1, 1]);
});

test("lines that are given up are counted with those on their way", async () => {
  let sent = () => {};
  const begun = new Promise<void>((resolve) => {
    sent = resolve;
  });
  const log = new RunLog(async () => {
    sent();
    throw new Error("away");
  }, 1);
  for (let i = 0; i < 50; i++) {
    log.add("log", "info", String(i));
  }
  await begun;
  log.add("log", "info", "behind them");
  log.abandon();
  assert.equal(log.dropped, 51);
});

test("lines that are stored are not given up", async () => {
  const { log } = kept();
  log.add("log", "info", "one");
  await log.close();
  log.abandon();
  assert.equal(log.dropped, 0);
});

test("lines that come while a batch is on its way wait for others", async () => {
  const batches: string[][] = [];
  let sent = () => {};
  let stored = () => {};
  const begun = new Promise<void>((resolve) => {
    sent = resolve;
  });
  const log = new RunLog(async (lines) => {
    batches.push(lines.map((l) => l.text));
    sent();
    await new Promise<void>((resolve) => {
      stored = resolve;
    });
  }, 1);
  log.add("log", "info", "a");
  await begun;
  log.add("log", "info", "b");
  stored();
  await new Promise(setImmediate);
  log.add("log", "info", "c");
  const closed = log.close();
  await new Promise(setImmediate);
  stored();
  await closed;
  assert.deepEqual(batches, [["a"], ["b", "c"]]);
});

test("a full log counts what follows", async () => {
  const { log, batches } = kept(1, { lines: 2, bytes: 1000 });
  for (let i = 0; i < 5; i++) {
    log.add("stdout", "info", String(i));
  }
  await log.close();
  const texts = batches.flat().map((l) => l.text);
  assert.deepEqual(texts.slice(0, 2), ["0", "1"]);
  assert.match(texts[2] ?? "", /full/);
  assert.match(texts.at(-1) ?? "", /^3 lines were dropped/);
});
