import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { followNews, hearsNews, type News } from "./events";
import { setLive } from "./live-switch";

let push: (text: string) => void;
let heard: News[];
let stop: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  heard = [];
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => {
      const encoder = new TextEncoder();
      const body = new ReadableStream<Uint8Array>({
        start(c) {
          push = (text) => c.enqueue(encoder.encode(text));
        },
      });
      return new Response(body, { status: 200 });
    }),
  );
});
afterEach(() => {
  stop();
  setLive(true);
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const event = (name: string, names: string[], more = false) =>
  `event: ${name}\nid: a.1\ndata: ${JSON.stringify({ names, more })}\n\n`;
const plain = (news: News) => [
  news.reload,
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
