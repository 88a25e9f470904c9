import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { hourly } from "./calm.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  const tags = { tags: ["nightly"] };
  await p.job("default/load", "true", { schedule: { cron: hourly() }, ...tags });
  await p.job("default/report", "exit 2", { schedule: { cron: hourly() }, ...tags });
  await p.job("default/off", "true", { schedule: { cron: hourly() }, paused: true, ...tags });
});

it("yesterday runs again for selected jobs, whose page says how each stands, and what failed runs once more", async () => {
  const { page, faults, close } = await open("/jobs?tag=nightly");
  await page.getByText("3 jobs").first().waitFor();
  await page.getByRole("checkbox", { name: "Select all" }).check();
  await page.getByRole("button", { name: "Run a day again…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Run a day again for 3 jobs").waitFor();
  await dialog.getByLabel("Name").fill("The bad night");
  await dialog.getByLabel("Concurrent runs of all jobs").fill("8");
  await dialog.getByLabel("Reason").fill("the disk was full");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Preview jobs" }).click();
  await dialog.getByText("48 fires of 2 jobs would run").waitFor();
  await dialog.getByText("the job is paused").waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Run 48 fires" }).click();
  await page.waitForURL("**/backfills/*");
  await page.getByText("48 of 48").waitFor();
  const row = (job: string) => page.locator("table.bulkjobs tbody tr", { hasText: job });
  await row("report").getByText("Done").waitFor();
  expect(await row("report").getByRole("link", { name: "24", exact: true }).count()).toBe(1);
  await page.getByText("the disk was full").waitFor();
  expect(await axe(page)).toEqual([]);

  await page.getByRole("button", { name: "Run failed again" }).click();
  await dialog.getByRole("button", { name: "Run failed again" }).click();
  await row("report").getByText("round 2").waitFor();
  await row("report").getByText("Done").waitFor();
  await page.getByRole("link", { name: "Backfills" }).click();
  await page.getByRole("link", { name: "The bad night" }).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("a past day of the calendar runs again, and can be paused, resumed and cancelled", async () => {
  await program.job("slow/slow", "sleep 30", { schedule: { cron: hourly() } });
  const { page, faults, close } = await open("/schedule/calendar?group=slow&all=true", { theme: "dark" });
  await page.getByRole("button", { name: "Previous month" }).click();
  await page.locator("a.mday").nth(14).click();
  await page.getByRole("button", { name: "Run this day again…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Run a day again for group slow").waitFor();
  await dialog.getByRole("button", { name: "Preview jobs" }).click();
  await dialog.getByRole("button", { name: "Run 24 fires" }).click();
  await page.getByText("0 of 24").first().waitFor();
  const act = async (name: string, verb = name) => {
    await page.getByRole("button", { name, exact: true }).click();
    await dialog.getByRole("button", { name: verb, exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  };
  await act("Pause");
  await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
  await act("Resume");
  await act("Cancel", "Cancel the backfill");
  await page.locator(".li", { hasText: "Cancelled" }).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
