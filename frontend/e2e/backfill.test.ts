import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { hourly } from "./calm.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

it("fires of the past are shown one by one, then run, and each has its run", async () => {
  await program.job("default/hourly", "echo caught up", { schedule: { cron: hourly() } });
  const { page, faults, close } = await open("/jobs/default/hourly");
  await page.getByRole("button", { name: "Run with parameters…" }).click();
  await page.getByRole("menuitem", { name: "Backfill a range…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Preview fires" }).click();
  await dialog.getByText("No matching fires in this range.").waitFor(); // none was missed
  await dialog.getByRole("button", { name: "Back" }).click();
  await dialog.getByRole("button", { name: "All", exact: true }).click();
  await dialog.getByRole("button", { name: "Custom" }).click();
  await dialog.getByLabel("From (UTC)").waitFor();
  await dialog.getByRole("button", { name: "24h" }).click();
  await dialog.getByLabel("Concurrent runs").fill("4");
  await dialog.getByLabel("Reason").fill("the report was wrong");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Preview fires" }).click();
  await dialog.getByText("24 fires would run").waitFor();
  expect(await dialog.locator("tbody tr").count()).toBe(24);
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Run 24 fires" }).click();
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.waitForURL("**/jobs/default/hourly/ledger");
  const row = page.locator("table.backfills tbody tr");
  await row.getByText("24 of 24").waitFor();
  await row.getByText("Done").waitFor();
  await row.getByText("the report was wrong").waitFor();
  expect(await axe(page)).toEqual([]);

  // Asked again, nothing is left to run.
  await page.getByRole("button", { name: "Backfill a range…" }).click();
  await dialog.getByRole("button", { name: "All", exact: true }).click();
  await dialog.getByRole("button", { name: "Preview fires" }).click();
  await dialog.getByText("24 fires are left out").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a backfill is cancelled, and what had begun goes on", async () => {
  await program.job("default/slow", "sleep 30", { schedule: { cron: hourly() } });
  await program.api("POST", "/jobs/default/slow/backfills", {
    from: new Date(Date.now() - 24 * 3600e3).toISOString(),
    only: "all",
  });
  const { page, faults, close } = await open("/jobs/default/slow/ledger", {
    theme: "dark",
  });
  const row = page.locator("table.backfills tbody tr");
  await row.getByText("In progress").waitFor();
  await row.getByRole("button", { name: "Cancel" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("too slow");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Cancel the backfill" }).click();
  await row.getByText("Cancelled").waitFor();
  expect(faults).toEqual([]);
  await close();
});
