import { readFileSync } from "node:fs";
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  await p.job("default/first", "for n in $(seq 1 500); do echo line $n; done; printf 'no end, 世界'");
  await p.job("default/slow", "echo begun; exec sleep 900");
});

/** A run that goes on for as long as the tests do. */
let living = "";
beforeAll(async () => {
  living = (await program.api<{ run_id: string }>("POST", "/jobs/default/slow/run", {})).run_id;
});
afterAll(() => program.api("POST", `/runs/${living}/cancel`, { job: "default/slow" }));

it("a log that is downloaded is what was printed, line for line", async () => {
  const run = await program.run("default/first");
  const { page, faults, close } = await open(`/runs/${run}`);
  await page.locator(".logfoot").getByText("501 lines").waitFor();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download" }).click(),
  ]);
  const printed = [...Array.from({ length: 500 }, (_, i) => `line ${i + 1}`), "no end, 世界"];
  expect(readFileSync(await file.path(), "utf8")).toBe(printed.map((line) => `${line}\n`).join(""));
  expect(faults).toEqual([]);
  await close();
});

it("who asks for less motion sees none", async () => {
  const moving = (page: Page) =>
    page.evaluate(() => document.getAnimations().filter((a) => a.playState === "running").length);
  // To others the run that goes on moves.
  const { page: other, close: closeOther } = await open(`/runs/${living}`, {
    reducedMotion: "no-preference",
  });
  await other.locator(".ll").getByText("begun").waitFor();
  await expect.poll(() => moving(other)).toBeGreaterThan(0);
  await closeOther();

  const { page, faults, close } = await open("/", { reducedMotion: "reduce" });
  for (const path of [`/runs/${living}`, "/", "/jobs", "/runs", "/schedule"]) {
    await page.goto(program.url + path);
    await page.locator("main").getByText("slow").first().waitFor({ state: "attached" });
    expect(await moving(page), path).toBe(0);
  }
  expect(faults).toEqual([]);
  await close();
});

/** What the page's heap holds once all that can go has gone, in bytes. */
async function heapOf(page: Page): Promise<number> {
  const devtools = await page.context().newCDPSession(page);
  for (let i = 0; i < 3; i++) await devtools.send("HeapProfiler.collectGarbage");
  const { usedSize } = await devtools.send("Runtime.getHeapUsage");
  await devtools.detach();
  return usedSize;
}

it("a hundred changes of page leave no memory and no stream behind", async () => {
  const { page, faults, close } = await open("/");
  let tails = 0;
  const streams = new Set<Request>();
  page.on("request", (r) => {
    if (r.headers().accept !== "text/event-stream") return;
    streams.add(r);
    if (r.url().includes("/logs/tail")) tails++;
  });
  for (const end of ["requestfinished", "requestfailed"] as const) {
    page.on(end as "requestfinished", (r) => streams.delete(r));
  }
  await page.reload(); // so that all streams are known
  const visit = async (name: string) => {
    await page.locator(".navs a.nav").filter({ hasText: name }).click();
    await page.locator("main").getByRole("heading", { name }).first().waitFor();
  };
  const round = async () => {
    await visit("Runs");
    await page.locator(`main a[href*="${living}"]`).first().click();
    await page.locator(".ll").getByText("begun").waitFor();
    for (const name of ["Jobs", "Schedule", "Executors"]) await visit(name);
  };
  for (let i = 0; i < 4; i++) await round(); // what is loaded once stays
  const before = await heapOf(page);
  tails = 0;
  for (let i = 0; i < 20; i++) await round();
  expect(tails).toBeGreaterThanOrEqual(20);
  await expect.poll(() => [...streams].map((r) => new URL(r.url()).pathname)).toEqual(["/api/v1/events"]);
  const grown = (await heapOf(page)) - before;
  expect(grown).toBeLessThan(5_000_000);
  expect(faults).toEqual([]);
  await close();
});
