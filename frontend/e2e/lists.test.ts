import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  await p.job("default/quick", "true", { timeout: "5m" });
  await p.job("default/slow", "sleep 1");
  await p.job("default/bad", "exit 3");
  for (const name of ["quick", "quick", "slow", "bad"]) await p.run(`default/${name}`);
});

/** The names in a table, from above. */
const names = (page: Page) => page.locator("tbody td .name").allTextContents();
const heads = (page: Page) => page.locator("thead th").allTextContents();

it("jobs are sorted by a column, either way, and the address says so", async () => {
  const { page, faults, close } = await open("/jobs");
  await page.locator("table.jobs").getByText("slow").waitFor();
  const head = page.getByRole("columnheader", { name: "p95" });
  await head.getByRole("button").click();
  await page.waitForURL("**/jobs?sort=-p95");
  await expect.poll(() => names(page)).toEqual(["slow", expect.any(String), expect.any(String)]);
  await expect.poll(() => head.getAttribute("aria-sort")).toBe("descending");
  expect(await axe(page)).toEqual([]);
  await head.getByRole("button").click();
  await page.waitForURL("**/jobs?sort=p95");
  await expect.poll(async () => (await names(page)).at(-1)).toBe("slow");
  await page.reload();
  await expect.poll(async () => (await names(page)).at(-1)).toBe("slow");
  await head.getByRole("button").click();
  await page.waitForURL("**/jobs");
  await expect.poll(() => names(page)).toEqual(["bad", "quick", "slow"]);
  expect(faults).toEqual([]);
  await close();
});

it("columns are chosen, and a link shows them to somebody else", async () => {
  const { page, faults, close } = await open("/jobs");
  await page.locator("table.jobs").getByText("slow").waitFor();
  await page.getByRole("button", { name: "Columns" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Last 30 runs", { exact: true }).uncheck();
  await dialog.getByLabel("Timeout", { exact: true }).check();
  for (let i = 0; i < 6; i++) await dialog.getByRole("button", { name: "Move Timeout forward" }).click();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.waitForURL("**/jobs?cols=timeout,schedule,last,next,success,p95,owner");
  const chosen = [
    "",
    "Job",
    "Timeout",
    "Schedule",
    "Last run",
    "Next fire",
    "Success 7 d",
    "p95",
    "Owner",
    "Actions",
  ];
  await expect.poll(() => heads(page)).toEqual(chosen);
  await page.locator("tr", { hasText: "quick" }).getByText("5m").waitFor();

  // Somebody else follows the link; the same person comes back without it.
  const { page: other, close: closeOther } = await open(
    new URL(page.url()).pathname + new URL(page.url()).search,
  );
  await other.locator("table.jobs").getByText("slow").waitFor();
  expect(await heads(other)).toEqual(chosen);
  await closeOther();
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Jobs" }).click();
  await page.waitForURL("**/jobs?cols=timeout,schedule,last,next,success,p95,owner");
  await page.getByRole("button", { name: "Columns" }).click();
  await dialog.getByRole("button", { name: "Default" }).click();
  await page.waitForURL("**/jobs");
  await expect.poll(() => heads(page)).toHaveLength(10);

  await page.goto(`${program.url}/runs?cols=job,started,version`);
  await page.locator("table.runs tbody tr").first().waitFor();
  expect(await heads(page)).toEqual(["", "Status", "Job", "Started", "Version", "Actions"]);
  await page.locator("tr", { hasText: "quick" }).getByText("v1").first().waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("however long names, owners and tags are, each job can be told from the others", async () => {
  const long = (length: number) =>
    "wolfeschlegel-"
      .repeat(10)
      .slice(0, length - 1)
      .concat("x");
  await program.job(`${long(63)}/${long(63)}`, "true", {
    title: "一个非常长的任务标题".repeat(6),
    owner: "财务结算平台部门负责人".repeat(3),
    tags: [long(60), "short", long(59)],
    schedule: { fixed_rate: "15m" },
  });
  const wide = (at: string) => page.locator(at).evaluateAll((all) => all.map((el) => el.clientWidth));
  const { page, faults, close } = await open("/jobs");
  for (const path of ["/jobs", "/jobs?cols=schedule,runs,last,next,tags,handler,group,owner,changed"]) {
    await page.goto(program.url + path);
    await page.locator("table.jobs .owner").first().waitFor();
    for (const width of await wide("table.jobs .name")) expect(width, path).toBeGreaterThan(40);
  }
  // What needs somebody stays in its card.
  await page.goto(program.url);
  const item = page.locator(".li", { hasText: "No executor in this group" });
  await item.waitFor();
  expect(await item.evaluate((el) => el.scrollWidth - el.clientWidth)).toBe(0);
  expect(faults).toEqual([]);
  await program.api("DELETE", `/jobs/${long(63)}/${long(63)}`);
  await close();
});

it("runs by job are sorted by what the server can have first", async () => {
  const { page, faults, close } = await open("/runs?by=job");
  await expect.poll(async () => (await names(page))[0]).toBe("quick");
  await page.getByRole("columnheader", { name: "p95" }).getByRole("button").click();
  await page.waitForURL("**/runs?by=job&sort=duration");
  await expect.poll(async () => (await names(page))[0]).toBe("slow");
  await page.getByRole("columnheader", { name: "Failed" }).getByRole("button").click();
  await expect.poll(async () => (await names(page))[0]).toBe("bad");
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("all lines that a search finds are charted, and followed as they are printed", async () => {
  const { page, faults, close } = await open("/logs?q=tick");
  await page.getByText("No line matches").waitFor();
  await program.job("default/ticks", 'echo "tick 1"; echo "tick 2"; echo "tick 3"');
  await program.run("default/ticks");
  await page.getByRole("button", { name: "Live tail" }).click();
  await page.waitForURL("**/logs?q=tick&tail=true");
  await page.getByRole("img", { name: /^3 lines over time/ }).waitFor();
  await expect
    .poll(() => page.locator(".hits .ll .m").allTextContents())
    .toEqual(["tick 3", "tick 2", "tick 1"]);
  expect(await axe(page)).toEqual([]);
  await program.job("default/ticks", 'for n in $(seq 300); do echo "tick $n"; done');
  await program.run("default/ticks");
  const chart = page.getByRole("img", { name: /^303 lines over time/ });
  await chart.waitFor();
  const counted = page.waitForResponse((r) => r.url().includes("/logs/histogram?") && r.ok());
  await page.getByRole("button", { name: "Live tail" }).click();
  await page.waitForURL("**/logs?q=tick");

  // A page of them is in the list, and all in the chart.
  await expect.poll(() => page.locator(".hits .ll").count()).toBe(200);
  await counted;
  await page.locator(".filters").getByText("303 lines", { exact: true }).waitFor();
  await chart.waitFor();

  // The keys lead to a bar with lines, and Enter to no more than its lines.
  const card = page.locator(".chart .hover");
  await chart.focus();
  await expect
    .poll(
      async () => {
        await page.keyboard.press("ArrowLeft");
        return card.textContent();
      },
      { interval: 50 },
    )
    .toMatch(/(Error|Warn|Others) [1-9]/);
  const said = [...((await card.textContent()) ?? "").matchAll(/(?:Error|Warn|Others) (\d+)/g)];
  const total = said.reduce((n, [, lines]) => n + Number(lines), 0);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/logs\?q=tick&from=[^&]+&to=[^&]+$/);
  await page.getByRole("img", { name: new RegExp(`^${total} lines over time`) }).waitFor();
  await expect.poll(() => page.locator(".hits .ll").count()).toBe(Math.min(total, 200));
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Show the whole range" }).click();
  await page.waitForURL("**/logs?q=tick");
  await chart.waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a search is narrowed by words of its field, kept under a name, saved as a file, and shows what stands around a line", async () => {
  await program.job("default/around", 'for n in $(seq 30); do echo "step $n"; done');
  await program.run("default/around");
  const { page, faults, close } = await open("/logs");
  const field = page.getByRole("textbox", { name: /^Words/ });
  await field.fill("step job:default/around ");
  await page.waitForURL("**/logs?job=default/around&q=step");
  await expect.poll(() => field.inputValue()).toBe("step ");
  await field.fill('"step 15"');
  await expect.poll(() => page.locator(".hits .ll .m").allTextContents()).toEqual(["step 15"]);

  await page.getByRole("button", { name: "Lines around it" }).click();
  const around = page.getByRole("region", { name: "Lines around it" });
  await expect
    .poll(() => around.locator(".m").allTextContents())
    .toEqual([...Array(11).keys()].map((n) => `step ${n + 10}`));
  expect(await around.locator(".linked .m").textContent()).toBe("step 15");
  expect(await axe(page)).toEqual([]);

  await page.getByRole("button", { name: "Export" }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Plain text" }).click(),
  ]);
  expect(file.suggestedFilename()).toBe("logs.txt");
  expect(await readFile(await file.path(), "utf8")).toMatch(/^\S+Z info {2}default\/around step 15\n$/);

  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: "Save these filters…" }).click();
  const saving = page.getByRole("dialog");
  await saving.getByRole("textbox", { name: "Name" }).fill("steps");
  await saving.getByRole("button", { name: "Save view" }).click();
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.waitForURL("**/logs");
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitemcheckbox", { name: "steps" }).click();
  await page.waitForURL(/\/logs\?.*job=default\/around/);
  expect(faults).toEqual([]);
  await close();
});

it("what was not counted is said, and lines are there without their chart", async () => {
  await program.job("default/tock", "echo tock");
  await program.run("default/tock");
  const stored = () => program.api<{ items: unknown[] }>("GET", "/logs?text=tock");
  await expect.poll(async () => (await stored()).items.length).toBe(1);
  const { page, close } = await open("/");
  await page.route("**/api/v1/logs/histogram?*", async (route) => {
    const answer = await route.fetch();
    const all = await answer.json();
    const since = all.buckets[90].at;
    await route.fulfill({ response: answer, json: { ...all, since, complete: false } });
  });
  await page.goto(`${program.url}/logs?q=tock`);
  await page.getByText(/^Lines by the fire time .* counted back to/).waitFor();
  expect(await axe(page)).toEqual([]);

  await page.unrouteAll({ behavior: "wait" });
  await page.route("**/api/v1/logs/histogram?*", (route) => route.abort());
  await page.reload();
  await page.locator(".histogram").getByRole("alert").waitFor();
  await page.locator(".hits .ll").first().waitFor();
  await page.unrouteAll({ behavior: "wait" });
  await page.locator(".histogram").getByRole("button", { name: "Retry" }).click();
  await page.getByRole("img", { name: /^1 line over time/ }).waitFor();
  await close();
});
