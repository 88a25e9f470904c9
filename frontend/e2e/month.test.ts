import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { arrangeOwners } from "./owners.ts";
import { stage } from "./stage.ts";

/** The zone of the browser. */
const zone = "Asia/Shanghai";
const month = new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" })
  .format(new Date())
  .slice(0, 7);

interface Report {
  total: { scheduled: number; statuses: { failed?: number } };
  failures: object[];
}

const { program, open } = stage((p) =>
  arrangeOwners(p, { target: { success_rate: 99 }, schedule: { fixed_rate: "1s" } }),
);

/** Waits until the counters have both jobs. */
const counted = () =>
  expect
    .poll(async () => {
      const r = await program.api<Report>("GET", `/reports/month?month=${month}&zone=${zone}`);
      return r.total.scheduled > 3 && r.failures.length > 0;
    })
    .toBe(true);

it("a month is shown beside the month before, narrowed by the keyboard, and the choice is in the address", async () => {
  await counted();
  const { page, faults, close } = await open("/");
  await page.getByRole("link", { name: "Month", exact: true }).click();
  await page.getByRole("heading", { name: "Targets" }).waitFor();
  await page.getByRole("button", { name: "Next month" }).press("Enter");
  await page.getByText("This month is not over").waitFor();
  const card = (name: string) =>
    page.locator("section", { has: page.getByRole("heading", { name, exact: true }) });
  await card("Targets")
    .getByRole("row", { name: /report .*Missed by/ })
    .waitFor();
  await card("Failures by cause")
    .getByRole("row", { name: /the disk is full/ })
    .waitFor();
  await card("What changed")
    .getByRole("row", { name: /Saved job default\/report/ })
    .waitFor();
  await card("Figures")
    .getByRole("row", { name: /Fired late p99/ })
    .waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Owner", exact: true }).press("Enter");
  await page.getByRole("menuitemcheckbox", { name: /bob/ }).press("Enter");
  await card("Failures by cause").getByText("No failures").waitFor();
  expect(new URL(page.url()).searchParams.get("owner")).toBe("bob");
  expect(faults).toEqual([]);
  await close();
});

it("a month prints on at most two pages without the navigation, and is had as CSV", async () => {
  await counted();
  const { page, close } = await open(`/reports/month?month=${month}`, { lang: "zh" });
  await page.getByRole("heading", { name: "目标" }).waitFor();
  const pages = (await page.pdf({ preferCSSPageSize: true })).toString("latin1").match(/\/Type\s*\/Page\b/g);
  expect(pages?.length).toBeLessThanOrEqual(2);
  await page.emulateMedia({ media: "print" });
  expect(await page.getByRole("complementary").isVisible()).toBe(false);
  await page.emulateMedia({ media: "screen" });
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: /CSV/ }).click(),
  ]);
  expect(download.suggestedFilename()).toBe(`month-${month}.csv`);
  await close();
});

it("a group that does not exist is refused in words", async () => {
  const { page, close } = await open(`/reports/month?month=${month}&group=none`);
  await page.getByText(/group names none, a group without jobs/).waitFor();
  await close();
});
