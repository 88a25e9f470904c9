import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

let failed: string;

const { open } = stage(async (p) => {
  await p.job("default/good", "sleep 0.2");
  await p.job("default/bad", "exit 3");
  await p.run("default/good");
  await p.run("default/good");
  failed = await p.run("default/bad");
});

it("runs are chosen by what there is of them, and shown by job, executor and error", async () => {
  const { page, faults, close } = await open("/runs");
  await page.locator("table.runs tbody tr").nth(2).waitFor();
  await page.getByRole("button", { name: "Status", exact: true }).click();
  await page.getByRole("menuitemcheckbox", { name: "Succeeded 2" }).waitFor();
  await page.getByRole("menuitemcheckbox", { name: "Failed 1" }).click();
  await page.waitForURL(/status=failed/);
  await page.locator("table.runs").getByText("good").first().waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Clear filters" }).click();

  const rows = page.getByRole("group", { name: "Rows" });
  await rows.getByRole("button", { name: "Error" }).click();
  await page.getByRole("link", { name: /exit/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  await rows.getByRole("button", { name: "Executor" }).click();
  await page.getByRole("link", { name: "dev", exact: true }).waitFor();
  await rows.getByRole("button", { name: "Job" }).click();
  const bad = page.locator("tr", { hasText: "bad" });
  await bad.getByText("100.0%").waitFor();
  expect(await axe(page)).toEqual([]);
  await bad.getByRole("link").click();
  await page.waitForURL(
    (url) => url.searchParams.get("job") === "default/bad" && !url.searchParams.has("by"),
  );
  await page.locator("table.runs tbody tr").first().waitFor();

  const file = await page.getByRole("link", { name: "CSV" }).getAttribute("href");
  const text = await (await fetch(file ?? "")).text();
  expect(text).toContain(failed);
  expect(text).not.toContain("default/good");
  expect(faults).toEqual([]);
  await close();
});

it("a bar of a run strip tells of its run, and leads to it", async () => {
  const { page, faults, close } = await open("/jobs");
  const strip = page.locator("tr", { hasText: "bad" }).locator(".strip");
  // The newest run is at the right. What is under a pointer that rests is told once it moves.
  const [left, newest] = [
    { x: 30 * 7 - 5, y: 15 },
    { x: 30 * 7 - 4, y: 15 },
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
  await page.getByRole("img", { name: /^3 runs, 1 failed/ }).waitFor();
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
