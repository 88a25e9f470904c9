import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { axe } from "./browser.ts";
import { Executor } from "./executor.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();
const executor = new Executor();
afterAll(() => executor.kill());

/** The number that a text has first. */
const number = (text: string | null) => Number(/[\d,]+/.exec(text ?? "")?.[0].replaceAll(",", ""));
const attention = (page: Page) => page.locator(".card", { hasText: "Needs attention" }).locator(".li");
const kpi = (page: Page, name: string) =>
  page.locator(".kpi", { has: page.locator(".l", { hasText: name }) }).locator(".v");

it("the way to a first run is ticked off step by step, and ends at the overview", async () => {
  const { page, faults, close } = await open("/");
  const steps = page.locator(".guide li");
  const ticked = () => steps.evaluateAll((all) => all.map((step) => step.className === "done"));
  await page.getByText("Nothing is scheduled yet").waitFor();
  await expect.poll(ticked).toEqual([true, false, false, false]); // dev has an executor
  await program.job("default/first", "echo hello");
  await expect.poll(ticked).toEqual([true, true, false, false]);
  expect(await axe(page)).toEqual([]);
  await program.run("default/first");
  await expect.poll(ticked).toEqual([true, true, true, false]);
  await page.locator(".guide").getByRole("link", { name: "Alerts" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Show the overview" }).click();
  await kpi(page, "Success rate").getByText("100").waitFor();
  await page.reload();
  await kpi(page, "Success rate").getByText("100").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a job that begins to fail is said to need somebody, until one snoozes it or it runs well", async () => {
  const { page, faults, close } = await open("/");
  await page.getByText("Nothing needs attention").waitFor();
  await program.job("default/shaky", "echo 'disk is full' >&2; exit 3");
  const run = await program.run("default/shaky");
  const item = attention(page).filter({ hasText: "shaky" });
  await item.getByText("Last run failed").waitFor();
  expect(await axe(page)).toEqual([]);

  await item.getByRole("button", { name: "Snooze: shaky" }).click();
  await page.getByRole("menuitem", { name: "Until it is resolved" }).click();
  await page.getByText("1 snoozed").waitFor();
  await item.waitFor({ state: "detached" });
  expect(await axe(page)).toEqual([]);
  await page.reload();
  await page.getByText("1 snoozed").waitFor();
  await page.getByRole("button", { name: "Show again" }).click();
  await item.getByRole("link").click();
  await page.waitForURL(`**/runs/${run}*`);
  await page.locator(".ll").getByText("disk is full", { exact: true }).waitFor();

  await page.goto(program.url);
  await item.getByRole("button", { name: "Snooze: shaky" }).click();
  await page.getByRole("menuitem", { name: "Until it is resolved" }).click();
  await program.job("default/shaky", "true");
  await program.run("default/shaky");
  await page.getByText("1 snoozed").waitFor({ state: "detached" });
  await page.getByText("The last run that did not succeed").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("jobs that fail alike are one row, which leads to them; one that paused itself is another", async () => {
  for (const n of [1, 2, 3]) {
    await program.job(`default/alike-${n}`, `echo 'no answer from 10.0.0.${n}' >&2; exit 3`);
    await program.run(`default/alike-${n}`);
  }
  await program.job("default/tired", "echo tired >&2; exit 4", {
    title: "Night owl",
    pause_after_failures: 1,
  });
  await program.run("default/tired");
  const { page, faults, close } = await open("/");
  const tired = attention(page).filter({ hasText: "Night owl" }).filter({ hasText: "Paused after failures" });
  await tired.waitFor();
  const alike = attention(page).filter({ hasText: "3 jobs fail with the same error" });
  await alike.getByText(/^exit code 3: no answer from 10\.0\.0\.\d$/).waitFor();
  expect(await attention(page).filter({ hasText: "alike-" }).count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await alike.getByRole("link").click();
  await page.waitForURL("**/jobs?*error=*");
  await expect.poll(() => page.locator("table.jobs tbody tr").count()).toBe(3);
  expect(await axe(page)).toEqual([]);
  for (const name of ["alike-1", "alike-2", "alike-3", "tired"])
    await program.api("DELETE", `/jobs/default/${name}`);
  expect(faults).toEqual([]);
  await close();
});

it("an executor that is killed is lost: at its group, in the navigation, and among what needs somebody", async () => {
  const { page, faults, close } = await open("/");
  await executor.start(program, "crew", "crew-1");
  await page.goto(`${program.url}/executors`);
  await page.getByRole("link", { name: "crew-1" }).waitFor();
  await page.goto(program.url);
  await kpi(page, "Runs").waitFor();
  await executor.kill();
  const item = attention(page).filter({ hasText: "crew-1" });
  await item.getByText("no heartbeat from this executor of crew").waitFor();
  expect(await axe(page)).toEqual([]);
  const nav = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Executors" });
  expect(number(await nav.textContent())).toBeGreaterThan(0);
  await item.getByRole("link").click();
  await page.waitForURL("**/executors/crew/crew-1");
  await page.getByText("Lost").first().waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("another range has other figures, and the address keeps it", async () => {
  const { page, faults, close } = await open("/");
  await kpi(page, "Runs").getByText(/\d/).waitFor();
  await page.getByRole("button", { name: "Range: 24h" }).click();
  await page.getByRole("dialog", { name: "Range" }).getByRole("button", { name: "7d" }).click();
  await page.waitForURL("**/?range=7d");
  await page.getByRole("img", { name: /planned$/ }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Range: 7d" }).waitFor();
  await page.locator(".kpi", { hasText: "Failed" }).click();
  await page.waitForURL("**/runs?range=7d&status=failed&status=timed_out&status=lost");
  expect(faults).toEqual([]);
  await close();
});

it("a bar of the chart opens the runs of exactly its time, as many as it said", async () => {
  for (let i = 0; i < 3; i++) await program.run("default/first");
  const { page, faults, close } = await open("/?range=7d");
  const chart = page.getByRole("img", { name: /planned$/ });
  const card = page.locator(".chart .hover");
  // A mark that has passed a bar before its runs were counted does not come back to it.
  await kpi(page, "Runs").getByText(/[1-9]/).waitFor();
  await chart.focus();
  // From the end of the plan back to the newest bar of the past that has runs.
  await expect
    .poll(
      async () => {
        await page.keyboard.press("ArrowLeft");
        return card.textContent();
      },
      { interval: 50 },
    )
    .toMatch(/Succeeded [1-9]/);
  const said = [...((await card.textContent()) ?? "").matchAll(/(?:Succeeded|Failed|Other) ([\d,]+)/g)];
  const total = said.reduce((n, [, counted]) => n + number(counted ?? ""), 0);
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/runs\?from=[^&]+&to=[^&]+$/);
  const { searchParams } = new URL(page.url());
  const query = `from=${searchParams.get("from")}&to=${searchParams.get("to")}`;
  const { items } = await program.api<{ items: unknown[] }>("GET", `/runs?limit=500&${query}`);
  expect(items.length).toBe(total);
  await expect.poll(() => page.locator("table.runs tbody tr").count()).toBe(total);
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("the chart is narrowed by dragging and by keys, and the address and the way back have it", async () => {
  await program.job("default/first", "echo hello");
  await program.run("default/first");
  const { page, faults, close } = await open("/");
  const chart = page.getByRole("img", { name: /planned$/ });
  const tag = page.locator(".zoomed .tag");
  const part = () => {
    const { searchParams } = new URL(page.url());
    const at = (name: string) => Date.parse(searchParams.get(name) ?? "");
    return { from: at("from"), to: at("to") };
  };
  const hour = 3_600_000;
  await kpi(page, "Runs").getByText(/[1-9]/).waitFor();
  const box = (await chart.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  // From the middle of the day on to beyond the end of the plan: what has not come is not narrowed to.
  await page.mouse.move(box.x + box.width / 2, box.y + 80);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width + 40, box.y + 80, { steps: 5 });
  await page.locator(".chart .hover").getByText("Release, or press Enter, to show only this range").waitFor();
  await page.mouse.up();
  await page.waitForURL(/\/\?from=[^&]+&to=[^&]+$/);
  const dragged = part();
  expect(dragged.to).toBeGreaterThan(Date.now());
  expect(dragged.to).toBeLessThanOrEqual(Date.now() + hour / 4);
  expect((dragged.to - dragged.from) / hour).toBeGreaterThan(8);
  expect((dragged.to - dragged.from) / hour).toBeLessThan(14);
  await tag.waitFor();
  await page.getByRole("img", { name: /[1-9]\d* runs?, .* 0 planned$/ }).waitFor();
  expect(await axe(page)).toEqual([]);

  // The four last of 96 parts, by the keyboard alone; the last one or two may not have begun.
  await page.mouse.move(0, 0);
  await chart.focus();
  await page.keyboard.press("ArrowLeft");
  for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Enter");
  await expect.poll(() => part().from).toBeGreaterThan(dragged.from);
  const four = part();
  const parts = ((four.to - four.from) / (dragged.to - dragged.from)) * 96;
  expect(Math.abs(parts - Math.round(parts))).toBeLessThan(0.01);
  expect(Math.round(parts)).toBeGreaterThanOrEqual(2);
  expect(Math.round(parts)).toBeLessThanOrEqual(4);
  expect(four.to).toBeLessThanOrEqual(dragged.to);
  expect(four.to).toBeGreaterThan(Date.now() - 60_000);
  await page.reload();
  await tag.waitFor();
  const link = page.locator(".kpi", { hasText: "Failed" });
  await expect
    .poll(() => link.getAttribute("href"))
    .toContain(new Date(four.from).toISOString().slice(0, 13));

  await page.goBack();
  await expect.poll(part).toEqual(dragged);
  await page.getByRole("button", { name: "Show the whole range" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe("");
  await tag.waitFor({ state: "detached" });
  expect(faults).toEqual([]);
  await close();
});

it("the chart is read as a table, which leads to the runs of each part", async () => {
  await program.job("default/first", "echo hello");
  await program.run("default/first");
  const { page, faults, close } = await open("/?range=7d", { theme: "dark" });
  const card = page.locator(".card", { hasText: "Runs and forecast" });
  await kpi(page, "Runs").getByText(/[1-9]/).waitFor();
  await card.getByRole("button", { name: "As a table" }).click();
  const rows = card.locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(96 + 12);
  const row = rows.filter({ has: page.getByRole("link") }).first();
  await expect.poll(() => row.locator("td").nth(1).textContent()).toMatch(/[1-9]/);
  const ended = number(await row.locator("td").nth(1).textContent());
  const cells = await row.locator("td").allTextContents();
  const all = cells.slice(1, 4).reduce((n, text) => n + number(text), 0);
  expect(all).toBeGreaterThanOrEqual(ended);
  expect(await axe(page)).toEqual([]);
  await row.getByRole("link").click();
  await page.waitForURL(/\/runs\?from=[^&]+&to=[^&]+$/);
  await expect.poll(() => page.locator("table.runs tbody tr").count()).toBe(all);
  expect(faults).toEqual([]);
  await close();
});

it("the figures are compared with those of as long a time before", async () => {
  await program.job("default/steady", "true");
  await program.job("default/broken", "false");
  const fires = async (names: string[]) => {
    const times: number[] = [];
    for (const name of names) {
      const run = await program.run(name);
      times.push(Number.parseInt(run.replaceAll("-", "").slice(0, 12), 16)); // of a UUID, version 7
    }
    return times;
  };
  const [first = 0] = await fires(["default/broken", "default/steady"]);
  const [from = 0, last = 0] = await fires(["default/steady", "default/steady", "default/steady"]);
  // Before: two runs, one of them failed. After: three runs, all succeeded.
  const span = Math.max(last - from, from - first) + 1;
  const counted = async (since: number, until: number) => {
    const range = `from=${new Date(since).toISOString()}&to=${new Date(until).toISOString()}`;
    const { items } = await program.api<{ items: Record<string, number>[] }>("GET", `/runs/counts?${range}`);
    const { succeeded = 0, failed = 0 } = items[0] ?? {};
    return { runs: succeeded + failed, rate: succeeded / (succeeded + failed) };
  };
  const [before, during] = [await counted(from - span, from), await counted(from, from + span)];
  const iso = (ms: number) => encodeURIComponent(new Date(ms).toISOString());
  const { page, faults, close } = await open(`/?from=${iso(from)}&to=${iso(from + span)}`);
  const foot = (name: string) =>
    page
      .locator(".kpi", { has: page.locator(".l", { hasText: name }) })
      .locator(".f")
      .first();
  const runs = Math.abs(during.runs / before.runs - 1) * 100;
  await expect.poll(() => foot("Runs").textContent()).toContain(`${runs.toFixed(1)}% vs. previous period`);
  const points = Math.abs(during.rate - before.rate) * 100;
  await expect.poll(() => foot("Success rate").textContent()).toContain(`${points.toFixed(2)} pt`);
  expect(faults).toEqual([]);
  await close();
});
