import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { launch, open } from "./browser.ts";
import { Program } from "./program.ts";

// What a first visit to a page asks for and transfers, by the browser's own count: answers of the API,
// scripts, styles and fonts. scripts/budgets.mjs holds the files alone.
const kB = 1000;

/** With so many jobs, a page that asks once per row is far beyond its limit. */
const jobs = 200;
const failing = 20;

const program = new Program();
let browser: Browser;

beforeAll(async () => {
  await program.start();
  const names = Array.from({ length: jobs }, (_, i) => `team-${i % 4}/job-${i}`);
  for (const [i, name] of names.entries())
    await program.job(name, "echo done", {
      title: `Number ${i}`,
      tags: [`tag-${i % 5}`],
      schedule: { cron: "0 0 1 1 *" }, // none fires while a page is looked at
    });
  for (let i = 0; i < failing; i++) {
    await program.job(`default/bad-${i}`, `echo starts; echo "disk ${i % 3} is full" >&2; exit 1`);
    await program.run(`default/bad-${i}`);
  }
  browser = await launch();
  // As on a server that others look at, too: it hears what changes before the page is opened.
  const other = await open(browser, program.url, "/settings/about");
  await other.page.locator(".tools").getByText("Live").waitFor();
});
afterAll(async () => {
  await browser?.close();
  await program.remove();
});

interface Asked {
  path: string;
  bytes: number;
  packed: boolean;
}

/** A page has asked for all that it needs when it asks for nothing more for so long, in ms. */
const quiet = 700;

/** What a browser that knows nothing yet asks for until a page is there and asks for nothing more. */
async function visit(path: string, ready: string): Promise<Asked[]> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  const asked = new Map<string, Asked & { open: boolean }>();
  let last = Date.now();
  await cdp.send("Network.enable");
  cdp.on("Network.requestWillBeSent", ({ requestId, request }) => {
    last = Date.now();
    const { pathname, search } = new URL(request.url);
    const asks = request.postData ? ` ${request.postData}` : "";
    // The stream of events stays open.
    const open = pathname !== "/api/v1/events";
    asked.set(requestId, { path: pathname + search + asks, bytes: 0, packed: false, open });
  });
  cdp.on("Network.responseReceived", ({ requestId, response }) => {
    const one = asked.get(requestId);
    const names = Object.keys(response.headers).map((name) => name.toLowerCase());
    if (one) one.packed = names.includes("content-encoding");
  });
  const ended = ({ requestId, encodedDataLength = 0 }: { requestId: string; encodedDataLength?: number }) => {
    const one = asked.get(requestId);
    if (one) Object.assign(one, { open: false, bytes: encodedDataLength });
    last = Date.now();
  };
  cdp.on("Network.loadingFinished", ended);
  cdp.on("Network.loadingFailed", ended);
  await page.goto(program.url + path);
  await page.waitForSelector(ready);
  await expect
    .poll(() => Date.now() - last > quiet && [...asked.values()].every((one) => !one.open), { interval: 50 })
    .toBe(true);
  await context.close();
  return [...asked.values()];
}

const isAnswer = ({ path }: Asked) => path.startsWith("/api/") || path === "/readyz";

/**
 * Titles, and counts, that are needed at the same moment share a request. Lists that load one after the other
 * send one each.
 */
const together = (path: string) => path.replace(/^(\/api\/v1\/jobs\/(titles|counts))[? ].*/, "$1");

/** Heartbeats and the alerter may change these at any moment, and then a page rightly asks again. */
const mayChange = /^\/api\/v1\/(groups|alerts)/;

/** What was requested twice, and what of that cannot have changed meanwhile. */
const again = (asked: Asked[]) =>
  asked.map((one) => one.path).filter((path, i, paths) => paths.indexOf(path) !== i);
const wrongly = (asked: Asked[]) => again(asked).filter((path) => !mayChange.test(path));

// On a quiet machine there are 19 and 10 answers, and at most 336 and 346 kB. On a busy one "now" moves between two
// requests, what may change is asked for again, and files that are loaded in advance are counted, too.
for (const { name, path, ready, answers, files, bytes } of [
  { name: "the overview", path: "/", ready: ".fills svg", answers: 20, files: 28, bytes: 339 * kB },
  {
    name: "Jobs",
    path: "/jobs",
    ready: "table.jobs tbody tr a.name",
    answers: 10,
    files: 32,
    bytes: 347 * kB,
  },
])
  it(`a first visit to ${name} asks for each thing once, packed, and for no more than its budget`, async () => {
    let asked = await visit(path, ready);
    // Where the stream of events opens late, as it may on a busy machine, a page rightly asks again.
    for (let visits = 1; visits < 5 && wrongly(asked).length > 0; visits++) asked = await visit(path, ready);
    const list = asked.map((one) => `${one.bytes} ${one.path}`).join("\n");
    expect(wrongly(asked)).toEqual([]);
    const unpacked = asked.filter((one) => one.bytes > 2 * kB && !one.packed);
    expect(unpacked.filter((one) => !one.path.endsWith(".woff2"))).toEqual([]);
    const different = new Set(asked.filter(isAnswer).map((one) => together(one.path)));
    expect(different.size, list).toBeLessThanOrEqual(answers);
    expect(asked.filter((one) => !isAnswer(one)).length, list).toBeLessThanOrEqual(files);
    const sum = asked.reduce((n, one) => n + one.bytes, 0);
    expect(sum, list).toBeLessThanOrEqual(bytes);
  });
