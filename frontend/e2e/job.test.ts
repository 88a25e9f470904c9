import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { daily } from "./calm.ts";
import { unfold } from "./fold.ts";
import { geometry } from "./geometry.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

it("a job is run once more with what it was given before", async () => {
  await program.job("default/given", "echo got $CARILLON_PARAMS", { params: { rows: 1 } });
  const { page, faults, close } = await open("/jobs/default/given");
  const runWith = async () => {
    await page.getByRole("button", { name: "Run with parameters…" }).click();
    await page.getByRole("menuitem", { name: "Run with parameters…" }).click();
  };
  await runWith();
  const dialog = page.getByRole("dialog");
  await dialog.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText('{"rows":42}');
  await dialog.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("button", { name: "Open run" }).click();
  await page.locator(".ll").getByText('got {"rows":42}').waitFor();

  await page.goBack();
  await runWith();
  const sets = dialog.getByLabel("Parameters", { exact: true }).and(page.locator("select"));
  await sets.locator("option", { hasText: '{"rows":42}' }).waitFor({ state: "attached" });
  expect(await sets.inputValue()).toBe("0"); // its own
  await sets.selectOption({ index: 2 });
  await dialog.locator(".cm-content").getByText("42").waitFor();
  await dialog.getByLabel("Executor").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("a job is called by its title on all pages, and found by its title and its key", async () => {
  await program.job("default/settle", "echo settled >&2; exit 3", {
    title: "Settle payments",
    schedule: { cron: "* * * * *" },
  });
  const run = await program.run("default/settle");
  const { page, faults, close } = await open("/runs");
  const row = page.locator("table.runs tr", { hasText: "Settle payments" });
  await row.first().getByText("default/settle").waitFor();
  for (const path of ["/", "/schedule", "/logs?q=settled", "/errors"]) {
    await page.goto(program.url + path);
    await page.getByText("Settle payments").first().waitFor();
  }
  await page.goto(program.url);
  await page.locator(".card", { hasText: "Failures by cause" }).getByText("Settle payments").waitFor();
  for (const path of [`/runs/${run}`, "/jobs/default/settle"]) {
    await page.goto(program.url + path);
    await page.locator("h1", { hasText: "Settle payments" }).waitFor();
    await page.locator("main, header").getByText("default/settle", { exact: true }).first().waitFor();
  }
  for (const text of ["settle pay", "default/settle"]) {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill(text);
    await page.getByRole("option", { name: /Settle payments/ }).waitFor();
    await page.keyboard.press("Escape");
  }
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("versions say what they changed, and one is restored with a note", async () => {
  await program.job("default/changing", "echo one");
  await program.job("default/changing", "echo two", { timeout: "10m" });
  const { page, faults, close } = await open("/jobs/default/changing/versions?v=1");
  await page
    .locator(".vlist")
    .getByText("timeout, task.shell")
    .or(page.locator(".vlist").getByText("task.shell, timeout"))
    .waitFor();
  await page.getByRole("button", { name: "Restore this version" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByLabel("Note").inputValue()).toBe("Restored v1");
  for (const line of ["echo two", "echo one"])
    await dialog.locator(".cm-host.diff").getByText(line).waitFor();
  await dialog.getByLabel("Note").fill("two was too slow");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Restore this version" }).click();
  await page.locator(".vlist").getByText("two was too slow").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a job's page tells how thirty days and each version went, and how its schedule changed", async () => {
  const first = { cron: daily() };
  const second = { cron: daily(), zone: "Asia/Shanghai" };
  await program.job("default/history", "exit 3", { schedule: first });
  await program.run("default/history");
  await program.job("default/history", "true", { schedule: first });
  await program.job("default/history", "true", { schedule: second });
  await program.run("default/history");
  const { page, faults, close } = await open("/jobs/default/history");
  await page.getByText("30 days, of 2 runs").waitFor();
  const days = page.getByRole("img", { name: "1 of the last 30 days had failures" });
  await days.waitFor();
  expect(await days.locator("i").count()).toBe(30);
  expect(await days.locator("i").last().getAttribute("title")).toMatch(/: 2 runs, 1 failed$/);
  expect(await axe(page)).toEqual([]);

  await page
    .getByRole("tab", { name: "Versions" })
    .or(page.getByRole("link", { name: "Versions" }))
    .click();
  const versions = page.locator(".vlist li");
  await versions.nth(2).getByText("1 run in 30 days, 100.0% failed").waitFor();
  await versions.nth(0).getByText("1 run in 30 days, 0.0% failed").waitFor();
  expect(await versions.nth(1).getByText("in 30 days").count()).toBe(0);
  expect(await axe(page)).toEqual([]);

  await page.goto(`${program.url}/jobs/default/history/schedule`);
  const card = page.locator("section.card", { hasText: "How the schedule changed" });
  await expect.poll(() => card.locator("a").allTextContents()).toEqual(["v3", "v1"]);
  await card.getByText(`${second.cron} · Asia/Shanghai`).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("of a job that was deleted there are its runs and what it was", async () => {
  await program.job("default/former", "echo goodbye");
  await program.run("default/former");
  await program.api("DELETE", "/jobs/default/former");
  const { page, faults, close } = await open("/jobs/default/former");
  await page.getByText(/deleted this job/).waitFor();
  await page.locator("table.runs tbody tr").first().waitFor();
  await page.locator(".cm-content").getByText("echo goodbye").waitFor();
  expect(await page.getByRole("button", { name: "Run now" }).count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await page.goto(`${program.url}/jobs/default/never-was`);
  await page.getByRole("button", { name: "Retry" }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("no two labels of a job's chart touch, however narrow the page is", async () => {
  await program.job("default/often", "true", { schedule: { cron: "*/7 * * * *" }, timeout: "1s" });
  for (let i = 0; i < 26; i++) await program.run("default/often");
  const { page, faults, close } = await open("/jobs/default/often");
  await page.getByRole("button", { name: "Live" }).waitFor();
  const chart = page.locator(".chart svg").first();
  const labels = () => chart.locator("text.axis").allTextContents();
  await expect.poll(labels).toContain("now");
  const found: string[] = [];
  for (const width of [320, 360, 390, 430, 520, 640, 768, 1000, 1280, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const fault of await geometry(page)) if (fault.includes("axis")) found.push(`${width}: ${fault}`);
    await expect.poll(async () => (await labels()).length, { message: `${width} px` }).toBeGreaterThan(3);
  }
  expect(found).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("a target is set in the form, and judged by scheduled runs alone", async () => {
  const schedule = { fixed_rate: "1s" };
  await program.job("default/promised", "exit 1", { schedule });
  const { page, faults, close } = await open("/jobs/default/promised/edit");
  await unfold(page, "Target and notifications");
  await page.getByLabel("Success rate, %").fill("120");
  await page.getByLabel("Success rate, %").blur();
  await page.getByText("120 must be a percentage above 0, up to 100").first().waitFor();
  await page.getByLabel("Success rate, %").fill("99.5");
  await page.getByLabel("Waits at most").fill("1h");
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Save as v2" }).click();
  const review = page.getByRole("dialog");
  await review.getByText("target", { exact: false }).first().waitFor();
  expect(await axe(page)).toEqual([]);
  await review.getByRole("button", { name: "Save as v2" }).click();
  await page.waitForURL("**/jobs/default/promised");
  await program.run("default/promised"); // by hand: it does not count
  await program.job("default/promised", "true", {
    schedule,
    paused: true,
    target: { success_rate: 99.5, start_delay: "1h" },
  });
  await page.reload();
  await page.getByText(/Missed by \d+ run/).waitFor();
  await page.getByText("99.5%").waitFor();
  await page.getByText("0 of 0 failures left").waitFor();
  await page.getByText("target 1h").waitFor();
  expect(await axe(page)).toEqual([]);
  const { items } = await program.api<{
    items: { runs: number; scheduled: number; statuses: Record<string, number> }[];
  }>("GET", "/reports/runs?by=job&job=default/promised");
  expect(items.map((row) => row.runs - (row.statuses.skipped ?? 0) - row.scheduled)).toEqual([1]);

  await page.goto(`${program.url}/runs?by=job`);
  const row = page.locator("main tr", { hasText: "promised" });
  await row.getByText(/Missed by \d+ run/).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 800 });
  await row.getByText(/Missed by \d+ run/).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("changes of a job, of its group and of its calendars are marked in its chart, and listed", async () => {
  const calendar = { calendar: "marked", dates: ["2031-01-01"] };
  await program.api("PUT", "/calendars/marked", calendar);
  const more = { schedule: { cron: "0 3 * * *", except: ["marked"] } };
  await program.job("default/marked", "true", more);
  await program.run("default/marked");
  await program.job("default/marked", "echo two", more);
  await program.api("PUT", "/calendars/marked", { ...calendar, dates: ["2031-01-02"] });
  await program.api("PUT", "/groups/default/pause", { paused: true });
  await program.api("PUT", "/groups/default/pause", { paused: false });
  await program.run("default/marked");
  const { page, faults, close } = await open("/jobs/default/marked");
  await page.locator("svg .mark").first().waitFor();
  await page.getByText("4 changes in this chart").press("Enter");
  const list = page.locator(".marks");
  await list.getByText(/^v2 saved by/).waitFor();
  await list.getByText(/^Saved the calendar marked, by/).waitFor();
  expect(await list.getByText(/^Paused or resumed the group, by/).count()).toBe(2);
  expect(await axe(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 800 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  await list.getByRole("link", { name: "v2" }).click();
  await page.waitForURL("**/jobs/default/marked/versions?v=2");
  expect(faults).toEqual([]);
  await close();
});
