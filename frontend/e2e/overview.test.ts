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
const kpi = (page: Page, name: string) => page.locator(".kpi", { hasText: name }).locator(".v");

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
  await page.getByText("Nothing needs you").waitFor();
  await program.job("default/shaky", "echo 'disk is full' >&2; exit 3");
  const run = await program.run("default/shaky");
  const item = attention(page).filter({ hasText: "shaky" });
  await item.getByText("Last run failed").waitFor();
  expect(await axe(page)).toEqual([]);

  await item.getByRole("button", { name: "Snooze: shaky" }).click();
  await page.getByRole("menuitem", { name: "Until it is over" }).click();
  await page.getByText("1 snoozed").waitFor();
  await item.waitFor({ state: "detached" });
  expect(await axe(page)).toEqual([]);
  await page.reload();
  await page.getByText("1 snoozed").waitFor();
  await page.getByRole("button", { name: "Show again" }).click();
  await item.getByRole("link").click();
  await page.waitForURL(`**/runs/${run}*`);
  await page.locator(".ll").getByText("disk is full").waitFor();

  await page.goto(program.url);
  await item.getByRole("button", { name: "Snooze: shaky" }).click();
  await page.getByRole("menuitem", { name: "Until it is over" }).click();
  await program.job("default/shaky", "true");
  await program.run("default/shaky");
  await page.getByText("1 snoozed").waitFor({ state: "detached" });
  await page.getByText("The last run that went wrong").waitFor();
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
  await page.getByRole("group", { name: "Range" }).getByRole("button", { name: "7d" }).click();
  await page.waitForURL("**/?range=7d");
  await page.getByRole("img", { name: /planned$/ }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "7d", pressed: true }).waitFor();
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
      { timeout: 90_000, interval: 50 },
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
