import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

let failed: string;

const { program, open } = stage(async (p) => {
  await p.job("default/good", "sleep 0.2");
  await p.job("default/bad", "exit 3");
  await p.run("default/good");
  await p.run("default/good");
  failed = await p.run("default/bad");
});

it("runs are chosen by what there is of them, shown by job and executor, and lead to their errors", async () => {
  const { page, faults, close } = await open("/runs");
  await page.locator("table.runs tbody tr").nth(2).waitFor();
  const facets = page.getByRole("complementary", { name: "Filter the runs" });
  await facets.getByRole("checkbox", { name: "Succeeded 2" }).waitFor();
  await facets.getByRole("checkbox", { name: "Failed 1" }).check();
  await page.waitForURL(/status=failed/);
  await page.locator("table.runs").getByText("good").first().waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Clear filters" }).click();

  const rows = page.getByRole("group", { name: "Rows" });
  // Each filter is there once: at the left, or as a chip where there is no room.
  expect(await page.locator(".facetchips").isVisible()).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.locator(".facetchips").waitFor();
  expect(await facets.isVisible()).toBe(false);
  await page.setViewportSize({ width: 1440, height: 900 });
  await facets.waitFor();
  await rows.getByRole("button", { name: "Executor" }).click();
  await page.getByRole("link", { name: "dev", exact: true }).waitFor();
  // Nothing that does not narrow the table can be chosen.
  expect(await facets.getByRole("checkbox", { name: "Succeeded 2" }).isDisabled()).toBe(true);
  expect(await facets.getByRole("checkbox", { name: "default 3" }).isDisabled()).toBe(false);
  expect(await axe(page)).toEqual([]);
  await rows.getByRole("button", { name: "Job" }).click();
  const bad = page.locator("tr", { hasText: "bad" });
  await bad.getByText("100.0%").waitFor();
  expect(await axe(page)).toEqual([]);
  await bad.getByRole("link").click();
  await page.waitForURL(
    (url) => url.searchParams.get("job") === "default/bad" && !url.searchParams.has("by"),
  );
  await page.locator("table.runs tbody tr").first().waitFor();

  await page.getByRole("button", { name: "Export" }).click();
  const file = await page.getByRole("menuitem", { name: "CSV" }).getAttribute("href");
  const text = await (await fetch(file ?? "")).text();
  expect(text).toContain(failed);
  expect(text).not.toContain("default/good");
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Errors by cause" }).click();
  await page.waitForURL((url) => url.pathname === "/errors" && url.searchParams.get("job") === "default/bad");
  await page.getByRole("link", { name: /exit/ }).first().waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("runs are in the order of a column, which the address keeps", async () => {
  const { page, faults, close } = await open("/runs");
  const head = (name: string) => page.getByRole("columnheader", { name });
  const duration = (row: number) => page.locator("table.runs tbody tr").nth(row).locator(".bar + .num");
  await head("Duration").getByRole("button").click();
  await page.waitForURL(/sort=-duration/);
  await page.getByText("All runs in the range, in this order").waitFor();
  expect(await head("Duration").getAttribute("aria-sort")).toBe("descending");
  expect(await axe(page)).toEqual([]);
  await page.reload();
  // The two that slept are before the one that did not.
  await page.locator("table.runs tbody tr", { hasText: "bad" }).waitFor();
  expect(await page.locator("table.runs tbody tr").last().textContent()).toContain("bad");
  await head("Duration").getByRole("button").click();
  await page.waitForURL(/sort=duration/);
  await page.locator("table.runs tbody tr").first().getByText("bad").waitFor();
  await duration(0).waitFor();
  await head("Duration").getByRole("button").click();
  await page.waitForURL((url) => !url.searchParams.has("sort"));
  expect(await head("Scheduled").getAttribute("aria-sort")).toBe("descending");
  expect(faults).toEqual([]);
  await close();
});

it("all runs that match are run again, after a look at what that does", async () => {
  const { page, faults, close } = await open("/runs?job=default/good&status=succeeded");
  const rows = page.locator("table.runs tbody tr");
  await rows.nth(1).waitFor();
  await rows.first().getByRole("checkbox").check();
  const bar = page.getByRole("toolbar", { name: "1 selected" });
  await bar.getByRole("button", { name: "Select all 2 matching" }).click();
  const whole = page.getByRole("toolbar", { name: "2 selected" });
  await whole.getByRole("button", { name: "Cancel" }).click();
  const dialog = page.getByRole("dialog");
  // They have ended: of none of them can it be said.
  await dialog.getByText("has ended already").first().waitFor();
  expect(await dialog.getByRole("button", { name: "Cancel 0 runs" }).isDisabled()).toBe(true);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await whole.getByRole("button", { name: "Run again" }).click();
  await dialog.getByText("default/good").nth(1).waitFor();
  await dialog.getByText("2 runs of 1 job").waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Run 2 runs again" }).click();
  await dialog.getByText("2 runs started. Their progress is below.").waitFor();
  await dialog.getByRole("link").filter({ hasText: "Succeeded" }).nth(1).waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.goto(page.url().replace("&status=succeeded", "&cause=rerun"));
  await rows.nth(1).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a bar of a run strip tells of its run, and leads to it", async () => {
  const { page, faults, close } = await open("/jobs");
  const strip = page.locator("tr", { hasText: "bad" }).locator(".strip");
  // The newest run is at the right. What is under a pointer that rests is told once it moves.
  const [left, newest] = [
    { x: 30 * 6 - 5, y: 15 },
    { x: 30 * 6 - 4, y: 15 },
  ];
  await strip.hover({ position: left });
  await strip.locator(".stripmark").waitFor();
  await strip.hover({ position: newest });
  await page
    .getByRole("tooltip")
    .getByText(/^Failed · /)
    .waitFor();
  await strip.click({ position: newest });
  await page.waitForURL(new RegExp(`/runs/${failed}`));
  expect(faults).toEqual([]);
  await close();
});

it("an instance shows its last day", async () => {
  const { page, faults, close } = await open("/executors/default/dev");
  await page.getByRole("img", { name: /^\d+ runs, 1 failed/ }).waitFor();
  await page.getByRole("img", { name: /slots in use within an hour/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("the timeline has a lane for each job, or for each executor", async () => {
  const { page, faults, close } = await open("/schedule");
  await page.locator(".tlane", { hasText: "good" }).waitFor();
  await page.getByRole("group", { name: "Lanes" }).getByRole("button", { name: "Executors" }).click();
  const lane = page.locator(".tlane", { hasText: "dev" });
  await lane.locator("rect.tbar").first().waitFor();
  expect(await axe(page)).toEqual([]);
  await lane.getByRole("link").click();
  await page.waitForURL(/executors\/default\/dev/);
  expect(faults).toEqual([]);
  await close();
});

it("a run that one click starts can be called off, and what was run again already is said", async () => {
  const { page, faults, close } = await open("/runs?job=default/bad");
  const rows = page.locator("table.runs tbody tr");
  const toast = page.locator(".toast", { hasText: "default/bad starts in 5 s" });
  const again = rows.first().getByRole("button", { name: "Run again" });
  await again.click();
  await toast.getByRole("button", { name: "Undo" }).click();
  await toast.waitFor({ state: "detached" });
  await again.click();
  await page.getByText("Run of default/bad started").waitFor();
  const runs = () => program.api<{ items: { status: string }[] }>("GET", "/runs?job=default/bad");
  await expect.poll(async () => (await runs()).items.map((r) => r.status)).toEqual(["failed", "failed"]);
  await page.reload();
  await rows.nth(1).waitFor();
  for (const row of [rows.first(), rows.nth(1)]) await row.getByRole("checkbox").check();
  await page.getByRole("toolbar").getByRole("button", { name: "Run again" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Run 1 run again" }).waitFor();
  await dialog.getByLabel("Include 1 run that was run again already").check();
  await dialog.getByText("run again already, as ").waitFor();
  await dialog.getByRole("button", { name: "Run 2 runs again" }).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
