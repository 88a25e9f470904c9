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
  const changes = () => program.api<{ items: unknown[] }>("GET", "/audit-log?operation=putJob");
  await expect.poll(async () => (await changes()).items.length).toBe(9 + 7);
  expect(faults).toEqual([]);
  await close();
});

it("the month shows what fires daily, and the days that a calendar takes out", async () => {
  await program.api("PUT", "/calendars/closed", { calendar: "closed", dates: ["06-15"] });
  const year = new Date().getFullYear() + 1;
  const { page, faults, close } = await open(`/schedule/calendar?month=${year}-06`, { theme: "dark" });
  const day = page.getByRole("link", { name: /^\w+,? 15 Jun.*1 fire planned/ });
  await day.getByText("nightly").waitFor();
  await day.getByText("closed").waitFor();
  expect(await page.locator(".mday").count()).toBe(30);
  expect(await page.getByText("hourly-0").count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Next month" }).click();
  await page.waitForURL(`**month=${year}-07`);
  await page.getByRole("button", { name: "Previous month" }).click();
  await day.click();
  await page.waitForURL(`**/schedule?from=${year}-06-14T16:00:00.000Z&to=${year}-06-15T16:00:00.000Z`);
  expect(faults).toEqual([]);
  await close();
});

it("a cell of the load map has as many fires as the previews of its jobs", async () => {
  await program.api("PUT", "/calendars/backup", {
    calendar: "backup",
    zone: "Asia/Shanghai",
    windows: [{ from: "03:35", to: "03:40" }],
  });
  await program.job("default/minutely", "true", {
    schedule: { cron: "* * * * *", zone: "Asia/Shanghai", except: ["backup"] },
  });
  const { page, faults, close } = await open("/schedule/load?by=slots");
  const map = page.locator(".heatmap");
  const row = page.locator(".heatrow").nth(3);
  await row.locator(".heat").nth(14).click(); // half past three
  await expect.poll(() => map.getAttribute("aria-label")).toContain("03:30–03:45");
  const [, told] = /(\d+) fires/.exec((await map.getAttribute("aria-label")) ?? "") ?? [];

  const day = await row.locator("span").first().textContent();
  const from = Date.parse(`${day} ${new Date(Date.now() + 3 * 86_400_000).getFullYear()} 03:30 GMT+0800`);
  const { items } = await program.api<{ items: { definition: { job: string } }[] }>("GET", "/jobs");
  let sum = 0;
  for (const { definition } of items) {
    const since = new Date(from - 1).toISOString();
    const { fires } = await program.api<{ fires: { due: string; skipped?: boolean }[] }>(
      "GET",
      `/jobs/${definition.job}/preview?n=20&from=${since}`,
    );
    sum += fires.filter((f) => !f.skipped && Date.parse(f.due) < from + 900_000).length;
  }
  expect(Number(told)).toBe(sum);
  expect(sum).toBe(11); // of the fifteen minutes five are the backup's; and the nightly job
  await page.locator("tr", { hasText: "minutely" }).getByText("10").waitFor();

  await map.focus();
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => map.getAttribute("aria-label")).not.toContain(`${day} 03:30`);
  await page.getByRole("button", { name: "Slot-minutes" }).click();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
