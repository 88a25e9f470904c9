import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  for (let i = 0; i < 8; i++) {
    await p.job(`default/hourly-${i}`, "true", { schedule: { cron: "0 * * * *" } });
  }
  await p.job("default/nightly", "true", { schedule: { cron: "30 3 * * *", zone: "Asia/Shanghai" } });
});

it("jobs that fire together are spread by what the load map suggests", async () => {
  const { page, faults, close } = await open("/schedule/load");
  await page.getByRole("button", { name: "Suggest offsets" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/The busiest minute of this quarter-hour has [89] fires now/).waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByLabel("default/hourly-0").uncheck();
  await dialog.getByRole("button", { name: "Save 7 jobs" }).click();
  await dialog.getByText("7 done, 0 failed").waitFor();
  const of = (name: string) =>
    program.api<{ definition: { version: number; note?: string; schedule: { spread?: string } } }>(
      "GET",
      `/jobs/default/${name}`,
    );
  expect((await of("hourly-0")).definition).toMatchObject({ version: 1, schedule: { cron: "0 * * * *" } });
  expect((await of("hourly-1")).definition).toMatchObject({ version: 2, schedule: { spread: "10m" } });
  const changes = () => program.api<{ items: unknown[] }>("GET", "/audit?operation=putJob");
  await expect.poll(async () => (await changes()).items.length).toBe(9 + 7);
  expect(faults).toEqual([]);
  await close();
});

it("the month shows what fires daily, and the days that a calendar takes out", async () => {
  await program.api("PUT", "/calendars/closed", { calendar: "closed", dates: ["15"].map((d) => `06-${d}`) });
  const { page, faults, close } = await open("/schedule/calendar?month=2030-06", {
    theme: "dark",
  });
  const day = page.getByRole("link", { name: /^Sat,? 15 Jun.*1 fire planned/ });
  await day.getByText("nightly").waitFor();
  await day.getByText("closed").waitFor();
  expect(await page.locator(".mday").count()).toBe(30);
  expect(await page.getByText("hourly-0").count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Next month" }).click();
  await page.waitForURL("**month=2030-07");
  await page.getByRole("button", { name: "Previous month" }).click();
  await day.click();
  await page.waitForURL("**/schedule?span=24h&at=2030-06-14T16:00:00.000Z");
  expect(faults).toEqual([]);
  await close();
});
