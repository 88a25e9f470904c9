import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";

import { Client, ClientError, Ended, InvalidParams, KeyInUse, Memory, NotFound, Run, type RunOptions, type State, WaitTimeout } from "../src/client";

interface Call {
  do: string;
  job: string;
  run: string;
  runs?: Call[];
  key?: string;
  reset?: boolean;
  reason?: string;
  params?: unknown;
  labels?: Record<string, string>;
  at?: string;
  in_ms?: number;
  expires?: string;
  expires_ms?: number;
}

type Body = Record<string, unknown>;

interface Exchange {
  request: { method: string; path: string; query?: Record<string, string>; body?: unknown };
  answer: { cut?: boolean; status: number; headers?: Record<string, string>; body?: unknown; text?: string };
}

interface Case {
  name: string;
  call: Call;
  server: Exchange[];
  pauses?: number[];
  result?: unknown;
  error?: Record<string, unknown>;
}

// The cases of the clients in all languages.
const shared = JSON.parse(readFileSync(join(__dirname, "../../../../client/testdata/cases.json"), "utf8")) as { now: string; token: string; cases: Case[] };

/** A server that expects requests, and has an answer for each. */
class Player {
  readonly wrong: string[] = [];
  readonly #ids = new Map<string, string>();

  constructor(readonly left: Exchange[]) {}

  async play(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = this.left.shift();
    if (!exchange) {
      this.wrong.push(`${request.method} ${request.url} came, and nothing more was expected`);
      response.destroy();
      return;
    }
    let text = "";
    for await (const piece of request) {
      text += String(piece);
    }
    this.#check(request, text, exchange.request);
    const { cut, status, headers, body, text: plain = "" } = exchange.answer;
    if (cut) {
      response.destroy();
      return;
    }
    response.writeHead(status, { "Content-Type": "application/json", ...headers });
    response.end(body === undefined ? plain : JSON.stringify(body));
  }

  #check(request: IncomingMessage, text: string, want: Exchange["request"]): void {
    const url = new URL(request.url ?? "", "http://player");
    const body = text === "" ? undefined : (JSON.parse(text) as Record<string, unknown>);
    const expected = this.#withIds(want.body as Body | undefined, body);
    try {
      assert.deepEqual(
        [request.method, url.pathname, Object.fromEntries(url.searchParams), body, request.headers.authorization, request.headers["content-type"]],
        [want.method, want.path, want.query ?? {}, expected, `Bearer ${shared.token}`, body && "application/json"],
      );
    } catch (error) {
      this.wrong.push(String(error));
    }
  }

  /** A body with ids for its placeholders, and for those of the entries of a batch. */
  #withIds(expected: Body | undefined, body: Body | undefined): Body | undefined {
    if (typeof expected?.["run_id"] === "string") {
      return { ...expected, run_id: this.#id(expected["run_id"], String(body?.["run_id"])) };
    }
    const sent = (body?.["runs"] ?? []) as { run: Body }[];
    const runs = expected?.["runs"] as { run: Body }[] | undefined;
    return runs ? { runs: runs.map((e, i) => ({ ...e, run: this.#withIds(e.run, sent[i]?.run) })) } : expected;
  }

  /** The id for which a placeholder stands: that of the first request that has it. */
  #id(placeholder: string, sent: string): string {
    const known = this.#ids.get(placeholder);
    if (known !== undefined) {
      return known;
    }
    const at = Date.parse(placeholder.split(" at ")[1] ?? shared.now);
    if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(sent) || parseInt(sent.slice(0, 8) + sent.slice(9, 13), 16) !== at) {
      this.wrong.push(`run_id ${sent} is no UUIDv7 of ${at}`);
    }
    this.#ids.set(placeholder, sent);
    return sent;
  }
}

function optionsOf(call: Call): RunOptions {
  const options: RunOptions = {};
  if (call.at) {
    options.at = new Date(call.at);
  }
  if (call.in_ms) {
    options.in = call.in_ms / 1000;
  }
  if (call.expires) {
    options.expires = new Date(call.expires);
  }
  if (call.expires_ms) {
    options.expires = call.expires_ms / 1000;
  }
  if (call.key !== undefined) {
    options.key = call.key;
  }
  if (call.reset) {
    options.reset = call.reset;
  }
  if (call.labels) {
    options.labels = call.labels;
  }
  return options;
}

async function act(client: Client, call: Call): Promise<unknown> {
  switch (call.do) {
    case "run":
      return plain(await client.run(call.job, call.params, optionsOf(call)));
    case "run many": {
      const requests = (call.runs ?? []).map((c) => ({ job: c.job, params: c.params, ...optionsOf(c) }));
      return (await client.runMany(requests)).map((r) => (r instanceof Run ? plain(r) : { error: r.name, message: r.message }));
    }
    case "run and cancel":
      return (await client.run(call.job)).cancel();
    case "status":
      return plain(await client.status(call.run));
    case "wait":
      return plain(await client.wait(call.run));
    case "cancel":
      return client.cancel(call.run, call.reason);
    case "cancel key":
      return client.cancelKey(call.job, call.key ?? "", call.reason);
    case "waiting": {
      const runs: unknown[] = [];
      for await (const run of client.waiting(call.job)) {
        runs.push(plain(run));
      }
      return runs;
    }
  }
  throw new Error(`there is no call ${call.do}`);
}

async function collect(runs: AsyncIterable<Run>): Promise<string[]> {
  const ids: string[] = [];
  for await (const run of runs) {
    ids.push(run.id);
  }
  return ids;
}

/** A result as the cases write it. */
function plain(value: Run | State): unknown {
  const { id, ...fields } = value;
  const due = value instanceof Run && value.due ? { due: value.due.toISOString().replace(/\.(\d)00Z$/, ".$1Z").replace(".0Z", "Z") } : {};
  return Object.fromEntries(Object.entries({ run_id: id, ...fields, ...due }).filter(([, v]) => v !== undefined && v !== "" && v !== false));
}

for (const c of shared.cases) {
  test(`the client passes the case: ${c.name}`, async () => {
    const player = new Player([...c.server]);
    const server = createServer((request, response) => void player.play(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const pauses: number[] = [];
    const spent = (): number => pauses.reduce((a, b) => a + b, 0);
    let error: unknown;
    let result: unknown;
    try {
      const client = new Client({ server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: shared.token });
      client.sender.now = () => Date.parse(shared.now) + spent() * 1000;
      client.sender.elapsed = spent;
      client.sender.pause = async (seconds) => void pauses.push(seconds);
      result = await act(client, c.call);
    } catch (e) {
      error = e;
    } finally {
      server.closeAllConnections();
      server.close();
    }
    assert.deepEqual(player.wrong, []);
    assert.deepEqual(player.left, []);
    assert.deepEqual(pauses, c.pauses ?? []);
    if (!c.error) {
      assert.ifError(error);
      assert.deepEqual(result ?? null, c.result);
      return;
    }
    assert.ok(error instanceof ClientError, String(error));
    const got: Record<string, unknown> = { ...error, kind: error.name.replace("ClientError", "Error"), message: error.message };
    const want = { field: "", after: 0, ...c.error };
    assert.deepEqual(Object.fromEntries(Object.keys(want).map((name) => [name, got[name]])), want);
  });
}

test("wait ends after its timeout, or by its signal", async () => {
  const memory = new Memory();
  const pauses: number[] = [];
  const spent = (): number => pauses.reduce((a, b) => a + b, 0);
  memory.end("mail/welcome", "running");
  const client = memory.client();
  client.sender.elapsed = spent;
  client.sender.pause = async (seconds) => void pauses.push(seconds);
  const run = await client.run("mail/welcome");
  await assert.rejects(run.wait({ timeout: "1m" }), WaitTimeout);
  assert.equal(spent(), 60);
  await assert.rejects(memory.client().wait(run, { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
});

test("the memory keeps what was asked for, and ends it as the test wants", async () => {
  const memory = new Memory();
  const client = memory.client();
  memory.end("mail/welcome", "failed", { sent: 3 });
  const run = await client.run("mail/welcome", { user: 42 }, { expires: "1h" });
  assert.deepEqual(await run.wait(), { id: run.id, job: "mail/welcome", status: "failed", reason: "", result: { sent: 3 } });
  await assert.rejects(run.cancel(), Ended);
  await assert.rejects(client.status("other"), NotFound);

  const at = new Date("2027-01-06T09:00:00Z");
  const later = await client.run("mail/welcome", undefined, { at });
  assert.deepEqual([later.due, later.status], [at, "queued"]);
  assert.deepEqual(await collect(client.waiting("mail/welcome")), [later.id]);
  await later.cancel("typo");
  assert.equal((await later.wait()).status, "cancelled");
  assert.deepEqual(await collect(client.waiting("mail/welcome")), []);
  assert.deepEqual(
    memory.wishes.map(({ job, params, at, expires }) => [job, params, at, expires]),
    [
      ["mail/welcome", { user: 42 }, undefined, "1h"],
      ["mail/welcome", undefined, "2027-01-06T09:00:00.000Z", undefined],
    ],
  );
});

test("the memory makes one run for a key", async () => {
  const memory = new Memory();
  const client = memory.client();
  const first = await client.run("mail/welcome", { user: 1 }, { key: "ada", in: "1h" });
  const again = await client.run("mail/welcome", { user: 1 }, { key: "ada" });
  assert.deepEqual([again.id, again.existed, again.status], [first.id, true, "queued"]);
  await assert.rejects(client.run("mail/welcome", { user: 2 }, { key: "ada" }), (error: unknown) => {
    assert.ok(error instanceof KeyInUse);
    assert.deepEqual([error.run, error.fields], [first.id, ["params"]]);
    return true;
  });
  await assert.rejects(client.run("mail/welcome", { user: 1 }, { key: "ada", reset: true }), /has not ended/);
  await client.cancelKey("mail/welcome", "ada");
  await assert.rejects(client.cancelKey("mail/welcome", "bob"), NotFound);
  assert.notEqual((await client.run("mail/welcome", { user: 2 }, { key: "ada", reset: true })).id, first.id);
  const bob = { job: "mail/welcome", key: "bob" };
  const [one, two, other] = await client.runMany([bob, bob, { ...bob, params: 1 }]);
  assert.ok(one instanceof Run && two instanceof Run && one.id === two.id);
  assert.ok(other instanceof KeyInUse);
  assert.deepEqual(
    memory.wishes.map(({ key }) => key),
    ["ada", "ada", "bob"],
  );
});

test("the environment names server and token", () => {
  process.env["CARILLON_SERVER"] = "carillon.example.com:8822/";
  assert.equal(Client.fromEnvironment().sender.server, "http://carillon.example.com:8822");
  delete process.env["CARILLON_SERVER"];
  assert.equal(Client.fromEnvironment().sender.server, "http://127.0.0.1:8822");
  assert.throws(() => new Client({ server: "ftp://carillon.example.com" }), InvalidParams);
});

test("an answer is read up to a limit", async () => {
  const long = (): Promise<Response> => Promise.resolve(new Response(new Uint8Array((16 << 20) + 1).fill(0x39)));
  await assert.rejects(new Client({ fetch: long }).status("x"), /is longer than 16777216 bytes/);
});
