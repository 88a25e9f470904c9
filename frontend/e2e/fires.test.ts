import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { axe, launch, open } from "./browser.ts";
import { daily } from "./calm.ts";
import { Program } from "./program.ts";

const program = new Program();
let browser: Browser;

interface Shown {
  definition: { skips?: { fire_time: string; reason?: string; run_id?: string }[]; paused_until?: string };
  next_fires: { fire_time: string; skipped?: boolean }[];
}
const of = (name: string) => program.api<Shown>("GET", `/jobs/default/${name}`);

beforeAll(async () => {
  await program.start();
  browser = await launch();
  for (const name of ["off", "early", "held", "lined"]) {
    await program.job(`default/${name}`, "true", { schedule: { cron: daily() } });
  }
});
afterAll(async () => {
  await browser?.close();
  await program.remove();
});

it("one fire that is ahead is skipped with a reason, and taken back", async () => {
  const { page, faults, close } = await open(browser, program.url, "/jobs/default/off/schedule");
  const second = page.locator(".fires.tall li").nth(1);
  await second.getByRole("button", { name: /Actions for the fire/ }).click();
  await page.getByRole("menuitem", { name: "Skip this fire…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason (recorded)").fill("the disk is being changed");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Skip it" }).click();
  await second.getByText("skipped").waitFor();
  expect(await second.locator(".tag").getAttribute("title")).toContain("the disk is being changed");
  expect(await axe(page)).toEqual([]);
  const [first, off] = (await of("off")).next_fires;
  expect([first?.skipped ?? false, off?.skipped]).toEqual([false, true]);
  await second.getByRole("button", { name: /Actions for the fire/ }).click();
  await page.getByRole("menuitem", { name: "Undo the skip" }).click();
  await second.getByText("skipped").waitFor({ state: "detached" });
  expect((await of("off")).definition.skips).toBeUndefined();
  expect(faults).toEqual([]);
  await close();
});

it("a fire that is ahead runs now instead, and leads to its run", async () => {
  const { page, faults, close } = await open(browser, program.url, "/jobs/default/early", { theme: "dark" });
  const first = page.locator(".rail .fires li").first();
  await first.getByRole("button", { name: /Actions for the fire/ }).click();
  await page.getByRole("menuitem", { name: "Run it now instead…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Run it now" }).click();
  await first.getByText("skipped").waitFor();
  await first.getByRole("button", { name: /Actions for the fire/ }).click();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("menuitem", { name: "Open run" }).click();
  await page.waitForURL("**/runs/*");
  await page.locator(".runhead").getByText("Succeeded").waitFor();
  const [skip] = (await of("early")).definition.skips ?? [];
  expect(page.url()).toContain(`/runs/${skip?.run_id}`);
  expect(faults).toEqual([]);
  await close();
});

it("a fire on the timeline is skipped", async () => {
  const fireTime = (await of("lined")).next_fires[0]?.fire_time ?? "";
  const [from, to] = [-1, 5].map((h) => new Date(Date.parse(fireTime) + h * 3_600_000).toISOString());
  const { page, faults, close } = await open(browser, program.url, `/schedule?q=lined&from=${from}&to=${to}`);
  await page.locator(".timeline rect.hollow").first().click();
  const dialog = page.getByRole("dialog");
  expect(await axe(page)).toEqual([]);
  await dialog.locator("button[type=submit]").click();
  await dialog.waitFor({ state: "detached" });
  expect((await of("lined")).definition.skips).toMatchObject([{ fire_time: fireTime }]);
  expect(faults).toEqual([]);
  await close();
});

it("a job is paused for a while, and says until when", async () => {
  const { page, faults, close } = await open(browser, program.url, "/jobs/default/held");
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Until").selectOption("4h");
  await dialog.getByText(/It resumes automatically at/).waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByText(/This job is paused until/).waitFor();
  await page
    .locator(".jobhead")
    .getByText(/Paused until/)
    .waitFor();
  expect(await axe(page)).toEqual([]);
  const until = Date.parse((await of("held")).definition.paused_until ?? "");
  expect(Math.abs(until - Date.now() - 4 * 3_600_000)).toBeLessThan(600_000);
  await page.goto(`${program.url}/jobs?view=paused`);
  await page
    .locator("tbody")
    .getByText(/Paused until/)
    .waitFor();
  await page.goto(`${program.url}/jobs/default/held`);
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.locator(".jobhead").getByText("Active").waitFor();
  expect((await of("held")).definition.paused_until).toBeUndefined();
  expect(faults).toEqual([]);
  await close();
});
