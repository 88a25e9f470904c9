import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { getConnection } from "./connection";
import { followNews, hearsNews, type News } from "./events";
import { noteSignedOut } from "./expiry";
import { setLive } from "./live-switch";

let push: (text: string) => void;
let end: () => void;
let status: number;
let speaks: boolean;
let heard: News[];
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  heard = [];
  status = 200;
  speaks = true;
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => {
      const encoder = new TextEncoder();
      const body = new ReadableStream<Uint8Array>({
        start(c) {
          push = (text) => c.enqueue(encoder.encode(text));
          end = () => c.close();
          if (speaks) push(":\n\n"); // as the server does, so that its stream is seen to be open
        },
      });
      return new Response(body, { status });
    }),
  );
});
afterEach(() => {
  stop();
  setLive(true);
  vi.useRealTimers();
});

const event = (name: string, names: string[], more = false) =>
  `event: ${name}\nid: a.1\ndata: ${JSON.stringify({ names, more })}\n\n`;
const plain = (news: News) => [
  news.reload !== undefined,
  Object.fromEntries([...news.topics].map(([t, names]) => [t, names ? [...names] : "any"])),
];

it("tells of what has changed in one batch, and of runs once more when the history has them", async () => {
  stop = followNews("/events", (n) => heard.push(n));
  await vi.advanceTimersByTimeAsync(0);
  expect(hearsNews()).toBe(true);
  push(event("runs", ["a/b"]) + event("runs", ["a/c"]) + event("jobs", ["a/b"]));
  await vi.advanceTimersByTimeAsync(500);
  expect(heard.map(plain)).toEqual([[false, { runs: ["a/b", "a/c"], jobs: ["a/b"] }]]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(heard.slice(1).map(plain)).toEqual([[false, { runs: ["a/b", "a/c"] }]]);
});

it("hears nothing from a stream that says nothing, whatever its head promised", async () => {
  speaks = false;
  stop = followNews("/events", (n) => heard.push(n));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(hearsNews()).toBe(false);
  push(":\n\n");
  await vi.advanceTimersByTimeAsync(0);
  expect(hearsNews()).toBe(true);
});

it("tells a busy page no more often than every two seconds", async () => {
  stop = followNews("/events", (n) => heard.push(n));
  await vi.advanceTimersByTimeAsync(0);
  for (let i = 0; i < 100; i++) {
    push(event("jobs", [`a/${i}`]));
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(heard.length).toBeGreaterThan(3);
  expect(heard.length).toBeLessThan(7);
});

it("forgets names where more has changed than is named", async () => {
  stop = followNews("/events", (n) => heard.push(n));
  await vi.advanceTimersByTimeAsync(0);
  push(event("jobs", ["a/b"], true) + event("jobs", ["a/c"]));
  await vi.advanceTimersByTimeAsync(500);
  expect(heard.map(plain)).toEqual([[false, { jobs: "any" }]]);
});

it("closes its stream while the tab is frozen, and has all loaded anew after that", async () => {
  stop = followNews("/events", (n) => heard.push(n));
  await vi.advanceTimersByTimeAsync(0);
  setLive(false);
  expect(hearsNews()).toBe(false);
  await vi.advanceTimersByTimeAsync(5000);
  expect(heard).toEqual([]);
  setLive(true);
  await vi.advanceTimersByTimeAsync(500);
  expect(heard.map(plain)).toEqual([[true, {}]]);
});

it("has all loaded anew when its stream is refused, which tells who is not signed in, and goes on once they are", async () => {
  stop = followNews("/events", (n) => heard.push(n));
  await vi.advanceTimersByTimeAsync(0);
  status = 401;
  push("event: bye\ndata: {}\n\n");
  end();
  await vi.advanceTimersByTimeAsync(1000);
  expect(hearsNews()).toBe(false);
  expect(heard.map(plain)).toEqual([[true, {}]]);
  noteSignedOut(true); // said by what was loaded
  status = 200;
  noteSignedOut(false);
  await vi.advanceTimersByTimeAsync(0);
  expect(hearsNews()).toBe(true);
  push(event("jobs", ["a/b"]));
  await vi.advanceTimersByTimeAsync(500);
  expect(heard.slice(1).map(plain)).toEqual([[true, { jobs: ["a/b"] }]]);
});

it("says that the server is away when its stream cannot be opened again, and that it is back once it can", async () => {
  let answers = true;
  const open = globalThis.fetch;
  vi.stubGlobal("fetch", (...of: Parameters<typeof fetch>) =>
    answers ? open(...of) : Promise.reject(new TypeError("fetch failed")),
  );
  stop = followNews("/events", (n) => heard.push(n));
  await vi.advanceTimersByTimeAsync(0);
  answers = false;
  end();
  await vi.advanceTimersByTimeAsync(1000);
  expect(getConnection().lost).toBe(true);
  answers = true;
  await vi.advanceTimersByTimeAsync(15_000);
  expect(hearsNews()).toBe(true);
  expect(getConnection().lost).toBe(false);
});
