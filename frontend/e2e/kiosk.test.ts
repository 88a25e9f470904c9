import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  await p.job("default/first", "echo hello", { schedule: { cron: "* * * * *" } });
  await p.run("default/first");
});

it("a screen on the wall shows the overview and the timeline in turn, and offers nothing to do", async () => {
  const { page, faults, close } = await open("/?kiosk=5");
  await page.locator(".kpis .v").first().waitFor();
  expect(await page.locator(".side").count()).toBe(0);
  expect(await page.getByRole("link", { name: "New job" }).count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await page.waitForURL(/\/schedule/);
  await page.locator(".tlane").first().waitFor();
  expect(await axe(page)).toEqual([]);
  await page.waitForURL(/:\d+\/(\?.*)?$/);

  // The tab stays so when it is loaded again, until an address says otherwise.
  await page.goto(`${program.url}/jobs/default/first`);
  expect(await page.getByRole("button", { name: "Run now" }).isDisabled()).toBe(true);
  await page.goto(`${program.url}/?kiosk=0`);
  await page.locator(".side").waitFor();
  expect(faults).toEqual([]);
  await close();
});
