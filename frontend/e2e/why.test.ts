import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { geometry } from "./geometry.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  await p.job("default/report", "true", { schedule: { cron: "0 9 * * 1-5", zone: "Asia/Shanghai" } });
  await p.job("default/held", "true", { schedule: { cron: "0 9 * * *" } });
  await p.api("POST", "/jobs/default/held/pause", { note: "disk is full" });
  await p.run("default/report"); // before that, the overview is a guide
});

/** A day of a week that is to come, such as 6 for Saturday. */
function next(weekday: number): string {
  const day = new Date(Date.now() + 24 * 3600e3);
  while (day.getUTCDay() !== weekday) day.setUTCDate(day.getUTCDate() + 1);
  return day.toISOString().slice(0, 10);
}

it("the box on the overview leads by the keyboard to one sentence, which has an address", async () => {
  const { page, faults, close } = await open("/");
  const form = page.getByRole("form", { name: "Why not?" });
  await form.getByLabel("Job").fill("default/report");
  await form.getByLabel("Time").fill("someday");
  await page.keyboard.press("Enter");
  await form.getByRole("alert").getByText("Enter a time").waitFor();
  expect(await axe(page)).toEqual([]);
  const saturday = next(6);
  await form.getByLabel("Time").fill(`${saturday} 9:00`);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.href.endsWith(`/why?job=default/report&at=${saturday}T09:00`));
  const answer = page.getByRole("status");
  await answer.getByText('the schedule does not fire on Saturday: its day of the week is "1-5"').waitFor();
  await answer.getByText("Times are in Asia/Shanghai").waitFor();
  expect(await axe(page)).toEqual([]);
  for (const width of [1440, 1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await geometry(page)).toEqual([]);
  }
  await answer.locator("dl a").last().click();
  await answer.getByText("the job will fire at").waitFor();
  expect(await page.getByLabel("Time").inputValue()).toMatch(/^\d{4}-\d\d-\d\d 09:00$/);
  await page.goBack();
  await answer.getByText("does not fire on Saturday").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a paused job is resumed from the answer, in Chinese and on a phone", async () => {
  const { page, faults, close } = await open("/jobs/default/held", {
    lang: "zh",
    theme: "dark",
    viewport: { width: 390, height: 844 },
  });
  const form = page.getByRole("form", { name: "为什么没运行？" });
  await form.getByLabel("时间").fill("明天 9:00");
  await form.getByRole("button", { name: "查询" }).click();
  const answer = page.getByRole("status");
  await answer.getByText(/任务已暂停；.*暂停；备注：disk is full/).waitFor();
  await answer.getByText("将跳过").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(await geometry(page)).toEqual([]);
  await answer.getByRole("button", { name: "恢复任务" }).click();
  await answer.getByText("将运行").waitFor();
  expect(await program.api<object>("GET", "/jobs/default/held")).not.toHaveProperty(
    "definition.paused",
    true,
  );
  expect(faults).toEqual([]);
  await close();
});

it("the palette asks it about any job", async () => {
  const { page, faults, close } = await open("/jobs");
  await page.locator("table.jobs tbody tr").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("default/report");
  await page.getByRole("option", { name: "Why not?" }).first().click();
  await page.waitForURL((url) => url.href.endsWith("/why?job=default/report"));
  expect(await page.getByLabel("Job", { exact: true }).inputValue()).toBe("default/report");
  await page.getByText("Choose a job and a time").waitFor();
  expect(faults).toEqual([]);
  await close();
});
