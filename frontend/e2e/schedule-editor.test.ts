import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

const cells = (page: Page) =>
  page.locator(".cron input").evaluateAll((all) => all.map((c) => (c as HTMLInputElement).value));

/** Pastes into the cell that has the focus. */
const paste = (page: Page, text: string) =>
  page.evaluate((pasted) => {
    const data = new DataTransfer();
    data.setData("text", pasted);
    document.activeElement?.dispatchEvent(
      new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
    );
  }, text);

it("what the sentence builder makes fires when its preview has said", async () => {
  const { page, faults, close } = await open("/jobs/new");
  await page.getByLabel("Name", { exact: true }).fill("tick");
  await page.locator(".sentence select").last().selectOption("second");
  await page.locator(".sentence select").first().selectOption("5");
  await expect.poll(() => cells(page)).toEqual(["*/5", "*", "*", "*", "*", "?"]);
  await page.getByText("Every 5 seconds").waitFor();
  await page.getByText("17,280 within a day, 6,307,200 within a year").waitFor();
  // Enough of them for a machine that takes minutes to save a job.
  await page.getByRole("button", { name: "Show more" }).click();
  const fires = page.locator(".previewrail .fires:not(.stale) time");
  await fires.nth(49).waitFor();
  const foreseen = await fires.evaluateAll((all) => all.map((x) => (x as HTMLTimeElement).dateTime));
  await page.locator(".cm-host .cm-content").first().click();
  await page.keyboard.insertText("echo tick");
  await page.getByRole("button", { name: "Create job" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create job" }).click();
  await page.getByRole("heading", { name: "tick" }).waitFor();

  const { definition } = await program.api<{ definition: { effective_from: string } }>(
    "GET",
    "/jobs/default/tick",
  );
  const next = foreseen.filter((at) => at > definition.effective_from).slice(0, 2);
  expect(next.length).toBe(2);
  const fired = async () => {
    const { items } = await program.api<{ items: { fire_time: string; status: string }[] }>(
      "GET",
      "/runs?job=default/tick&limit=1000",
    );
    const ended = items.filter((r) => r.status === "succeeded").map((r) => r.fire_time);
    return ended
      .sort()
      .slice(0, 2)
      .map((at) => new Date(at).toISOString());
  };
  await expect.poll(fired).toEqual(next);
  expect(faults).toEqual([]);
  await close();
});

it("every second Tuesday is said by a form, foreseen, and stays as it was saved", async () => {
  const { page, faults, close } = await open("/jobs/new");
  await page.getByLabel("Name", { exact: true }).fill("fortnight");
  await page.getByRole("button", { name: "Every n weeks" }).click();
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  await page.getByLabel("Counted from").fill("2026-01-06");
  await page.getByLabel("At", { exact: true }).fill("09:00, 25:00");
  await page.locator(".cronfield .ferr", { hasText: '"25:00" must be a time of day' }).waitFor();
  expect(await page.getByRole("button", { name: "Create job" }).isDisabled()).toBe(true);
  await page.getByLabel("At", { exact: true }).fill("09:00");
  await page.getByText("Every 2 weeks on Tue at 09:00, from 2026-01-06").waitFor();
  const fires = page.locator(".previewrail .fires:not(.stale) time");
  const instants = () => fires.evaluateAll((all) => all.map((x) => (x as HTMLTimeElement).dateTime));
  const day = 24 * 3600e3;
  const first = Date.UTC(2026, 0, 6);
  const weeks = (at: string) => Math.floor((Date.parse(at) - first) / day) % 14;
  await expect.poll(async () => new Set((await instants()).map(weeks))).toEqual(new Set([0]));
  expect(await axe(page)).toEqual([]);
  await page.locator(".cm-host .cm-content").first().click();
  await page.keyboard.insertText("echo tick");
  await page.getByRole("button", { name: "Create job" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create job" }).click();
  await page.getByRole("heading", { name: "fortnight" }).waitFor();
  await page.getByText("Every 2 weeks on Tue at 09:00, from 2026-01-06").first().waitFor();
  const saved = await program.api<{ definition: { schedule: object } }>("GET", "/jobs/default/fortnight");
  expect(saved.definition.schedule).toEqual({
    every: { weeks: 2, at: ["09:00"], from: "2026-01-06" },
    zone: "Europe/Berlin",
  });

  // The form shows again what it saved, and says months in words of their own.
  await page.goto(`${program.url}/jobs/default/fortnight/edit`);
  await page.getByLabel("Unit").selectOption("months");
  await page.getByLabel("On", { exact: true }).fill("last fri, 31");
  await page
    .getByText("Every 2 months on the last Friday and the 31st at 09:00, from 2026-01-06")
    .first()
    .waitFor();
  expect(await page.getByLabel("Counted from").inputValue()).toBe("2026-01-06");
  expect(faults).toEqual([]);
  await close();
});

it("an expression that no sentence says fills its cells, and is told in both languages", async () => {
  const year = new Date().getFullYear();
  const years = `${year}-${year + 1}`;
  for (const [lang, words] of [
    ["en", `At 10:15, on the last Friday of the month, ${year} through ${year + 1}`],
    ["zh", "星期五"],
  ] as const) {
    const { page, faults, close } = await open("/jobs/new", { lang });
    await page.locator(".cron input").first().focus();
    await paste(page, `0 15 10 ? * 6L ${years}`);
    await expect.poll(() => cells(page)).toEqual(["0", "15", "10", "?", "*", "6L", years]);
    await page.locator(".cronfield").getByText(words).first().waitFor();
    expect(await page.locator(".sentence.dim").count()).toBe(1);
    // The last Friday of a month is one of its last seven days.
    const days = page.locator(".previewrail .fires:not(.stale) .fday");
    await expect.poll(async () => (await days.allTextContents()).join()).toMatch(/Fri|周五/);
    await page.locator(".cron input").first().focus();
    await paste(page, "@daily");
    await page.getByRole("textbox", { name: /Cron/ }).waitFor();
    expect(faults).toEqual([]);
    await close();
  }
});

it("a cell that is wrong says what would be right, and keeps the job from being saved", async () => {
  const { page, faults, close } = await open("/jobs/new");
  await page.getByLabel("Name", { exact: true }).fill("wrong");
  const save = page.getByRole("button", { name: "Create job" });
  const minute = page.locator(".cron label").first();
  await minute.locator("input").fill("75");
  await page.getByText("minute “75” must be a number from 0 to 59").waitFor();
  expect(await minute.getAttribute("class")).toContain("wrong");
  expect(await page.locator(".cron [aria-invalid]").count()).toBe(1);
  expect(await save.isDisabled()).toBe(true);
  expect(await axe(page)).toEqual([]);
  await minute.locator("input").fill("45");
  await page.getByText("Daily at 03:45").waitFor();
  await expect.poll(() => save.isDisabled()).toBe(false);
  expect(faults).toEqual([]);
  await close();
});

it("a zone whose clocks are moved says so, and which fires that is about", async () => {
  const { page, faults, close } = await open("/jobs/new");
  await page.getByLabel("Time zone").fill("Europe/Berlin");
  await page.locator(".cron input").nth(0).fill("30");
  await page.locator(".cron input").nth(1).fill("2");
  // Whichever comes next: the spring's, or the autumn's.
  const rail = page.locator(".previewrail");
  await rail.getByText(/^On .+ clocks go from 0\d:00 (forward|back) to 0\d:00\./).waitFor();
  // A job that fires on nothing but Sundays gets there within its 50 next fires.
  await page.locator(".cron input").nth(4).fill("SUN");
  await page.getByRole("button", { name: "Show more" }).click();
  await rail
    .getByText(/02:30 (does not exist|comes twice) that day/)
    .first()
    .waitFor();
  await page.getByLabel("Time zone").fill("Asia/Shanghai");
  await rail.getByText("Asia/Shanghai has no clock changes.").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("where many jobs fire at once, a quieter minute is offered, and taken by a click", async () => {
  for (const n of [1, 2, 3, 4]) {
    await program.job(`crowd/job-${n}`, "true", {
      schedule: { cron: "0 3 * * *", zone: "Asia/Shanghai" },
    });
  }
  const { page, faults, close } = await open("/jobs/new?group=crowd");
  const note = page.locator(".quieter");
  await note.getByText("At 03:00 there are 4 other fires of crowd.").waitFor();
  await note.getByRole("button", { name: "Use 03:05" }).click();
  await expect.poll(() => cells(page)).toEqual(["5", "3", "*", "*", "*"]);
  await page.getByText("Daily at 03:05").waitFor();
  await note.waitFor({ state: "detached" });
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
