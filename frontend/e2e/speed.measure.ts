import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, it } from "vitest";
import { launch, open, type Tab } from "./browser.ts";
import { Program } from "./program.ts";

// Not a test: `task console:speed` measures what people wait for, with many jobs and runs.
// CARILLON_SPEED_DATA names a folder that keeps what was seeded for the next time.
const jobs = 10_000;
const runs = 1_000_000;
const times = 7;

const program = new Program(process.env.CARILLON_SPEED_DATA);
const figures: { what: string; median: number; worst: number; aim: number }[] = [];
let browser: Browser;

beforeAll(async () => {
  seed();
  await program.start();
  if ((await total()) < jobs) save();
  browser = await launch();
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await program.remove();
  report();
});

/** Fills the history, unless it was kept. */
function seed() {
  if (program.has("history.db")) return;
  const store = join(program.data, "history.db");
  carillon("bench", "seed", "--store", store, "--jobs", `${jobs}`, "--runs", `${runs}`, "--lines", "0");
}

/** Saves the jobs of that history. They fire once a day, each at a time of its own. */
function save() {
  const documents = Array.from({ length: jobs }, (_, i) =>
    JSON.stringify({
      job: `group-${i % 10}/job-${i}`,
      description: `Number ${i}`,
      schedule: { cron: "H H * * *" },
      task: { shell: "true" },
    }),
  );
  const file = join(program.data, "jobs.yaml");
  writeFileSync(file, documents.join("\n---\n"));
  carillon("apply", "-f", file, "--server", program.url);
}

function carillon(...args: string[]) {
  execFileSync(process.env.CARILLON_BIN ?? "carillon", args, { stdio: "ignore" });
}

async function total(): Promise<number> {
  return (await program.api<{ total: number }>("GET", "/jobs?limit=1&runs=0&fires=0")).total;
}

const middle = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const nearWorst = (values: number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;

function note(what: string, aim: number, values: number[]) {
  figures.push({ what, aim, median: middle(values), worst: Math.max(...values) });
}

function report() {
  console.log(`${cpus().length} cores, ${cpus()[0]?.model}; ${jobs} jobs, ${runs} runs; milliseconds`);
  for (const { what, median, worst, aim } of figures)
    console.log(
      `${what.padEnd(52)} ${median.toFixed(1).padStart(8)} ${worst.toFixed(1).padStart(8)}  aim ${aim}`,
    );
}

/**
 * Does something in the page, and returns after how many ms a condition holds and is
 * painted. Both are expressions, which run in the page: a call from here takes time itself.
 */
function timed(page: Page, act: string, done: string): Promise<number> {
  return page.evaluate(`(async () => {
    const began = performance.now();
    ${act};
    while (!(${done})) await new Promise(requestAnimationFrame);
    await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
    return performance.now() - began;
  })()`);
}

const link = (path: string) => `document.querySelector('.nav[href$="${path}"]').click()`;
const has = (selector: string) => `document.querySelector('${selector}')`;

/** A page on which nothing happens, in a tab that knows nothing yet. */
async function begin(path = "/settings/about"): Promise<Tab> {
  const tab = await open(browser, program.url, path);
  await tab.page.waitForSelector(".me");
  await tab.page.waitForTimeout(700); // what it has begun is over
  return tab;
}

async function repeated(what: string, aim: number, once: (tab: Tab) => Promise<number>, path?: string) {
  const values: number[] = [];
  for (let i = 0; i < times; i++) {
    const tab = await begin(path);
    values.push(await once(tab));
    await tab.close();
  }
  note(what, aim, values);
}

it("lists and the overview", async () => {
  await (await begin("/jobs")).close(); // what is read for the first time comes from the disk
  const firstRow = has("table.jobs tbody tr a.name");
  await repeated("Jobs: from the navigation to the first row", 300, ({ page }) =>
    timed(page, link("/jobs"), firstRow),
  );
  await repeated("Jobs: from an address to the first row", 800, async ({ page }) => {
    await page.goto(`${program.url}/jobs`);
    await page.waitForSelector("table.jobs tbody tr a.name");
    return page.evaluate("performance.now()");
  });
  const typed = `
    const field = document.querySelector('input[data-filter]');
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, 'job-77');
    field.dispatchEvent(new Event('input', { bubbles: true }))`;
  const filtered = `!document.querySelector('.stale') && document.querySelector('table.jobs tbody a.name')?.textContent.startsWith('job-77')`;
  await repeated(
    "Jobs: from a key in the filter to its rows",
    300,
    ({ page }) => timed(page, typed, filtered),
    "/jobs",
  );
  await repeated(
    "Jobs: from the tab of failing jobs to its rows",
    300,
    ({ page }) =>
      timed(
        page,
        `document.querySelector('.tabs a[href*="failing"]').click()`,
        `!document.querySelector('.stale') && location.search.includes('failing') && ${firstRow}`,
      ),
    "/jobs",
  );
  // The lists of jobs below the window are asked for when somebody is on the way to them (useNear).
  await repeated("Overview: until its figures, charts and failures are there", 400, ({ page }) =>
    timed(
      page,
      link("/"),
      `${has(".kpis .v")} && document.querySelectorAll('.kpis .v')[0].textContent.length > 3 && ${has(".chart .m-ok")} && ${has(".halves.steady .li")}`,
    ),
  );
  await repeated("Runs: from the navigation to the first row", 300, ({ page }) =>
    timed(page, link("/runs"), has("table.runs tbody tr a")),
  );
}, 200_000);

/** Collects how long frames take while something goes on for some ms. */
function frames(page: Page, ms: number, each = ""): Promise<number[]> {
  return page.evaluate(`(async () => {
    const took = [];
    let last = await new Promise(requestAnimationFrame);
    const end = last + ${ms};
    for (let n = 0; last < end; n++) {
      ${each};
      const next = await new Promise(requestAnimationFrame);
      took.push(next - last);
      last = next;
    }
    return took;
  })()`);
}

function noteFrames(what: string, took: number[]) {
  figures.push({
    what: `${what}: p50 and p95 of a frame`,
    aim: 17,
    median: middle(took),
    worst: nearWorst(took),
  });
}

it("a log that grows", async () => {
  const held = 190_000;
  // So many lines at once, and then two hundred each tenth of a second.
  await program.job(
    "default/chatter",
    `awk 'BEGIN { for (n = 1; n <= ${held}; n++) print "batch", n, "rows=50000 read=1.8s write=0.9s" }'
for s in $(seq 400); do seq -f "line %g of this part, rows=50000 read=1.8s" 200; sleep 0.1; done`,
  );
  const { run_id } = await program.api<{ run_id: string }>("POST", "/jobs/default/chatter/run", {});
  const tab = await open(browser, program.url, `/runs/${run_id}`);
  await tab.page.waitForFunction(
    (n) =>
      Number(document.querySelector(".logfoot .num")?.textContent?.replaceAll(",", "").match(/\d+/)?.[0]) > n,
    held,
    { timeout: 60_000 },
  );
  await tab.page.waitForTimeout(2000);
  const took = await frames(tab.page, 15_000);
  noteFrames(
    `Log: 200,000 lines held, ${await tab.page.locator(".logfoot .num").first().textContent()}`,
    took,
  );
  await tab.close();
  await program.api("POST", `/runs/${run_id}/cancel`, { job: "default/chatter" });
}, 120_000);

it("a timeline that is dragged", async () => {
  const { page, close } = await begin("/schedule?range=24h");
  await page.waitForSelector(".tlane");
  const lanes = await page.evaluate(
    `document.querySelector('.trows').clientHeight / document.querySelector('.tlane').clientHeight`,
  );
  const box = await page.locator(".tbody").boundingBox();
  if (!box) throw new Error("there is no timeline");
  await page.mouse.move(box.x + box.width / 2, box.y + 200);
  await page.mouse.down();
  const measuring = frames(page, 5000);
  for (let i = 0; i < 200; i++) {
    await page.mouse.move(box.x + box.width / 2 + 200 * Math.sin(i / 10), box.y + 200);
    await page.waitForTimeout(20);
  }
  noteFrames(`Timeline: about ${Math.round(Number(lanes))} lanes dragged`, await measuring);
  await page.mouse.up();
  await close();
}, 60_000);
