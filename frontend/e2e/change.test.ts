import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  const nightly = { tags: ["nightly"], schedule: { cron: "0 3 * * *" } };
  await p.job("default/load", "true", nightly);
  await p.job("default/once", "true", { ...nightly, delivery: "at_most_once" });
  await p.job("default/report", "exit 2", nightly);
});

const stored = (name: string) =>
  program.api<{ definition: { version: number; timeout?: string; owner?: string } }>(
    "GET",
    `/jobs/default/${name}`,
  );

const shots = process.env.SHOTS;

it("fields of many jobs are changed after a preview of each, and that is undone", async () => {
  const { page, faults, close } = await open("/jobs?tag=nightly");
  const dialog = page.getByRole("dialog");
  const begin = async () => {
    await page.getByText("3 jobs").first().waitFor();
    await page.getByRole("checkbox", { name: "Select all" }).check();
    await page.getByRole("button", { name: "Change fields" }).click();
    await dialog.getByText("Change fields of 3 jobs").waitFor();
  };
  await begin();
  expect(await dialog.getByRole("button", { name: "Preview changes" }).isDisabled()).toBe(true);
  await dialog.getByRole("checkbox", { name: "Timeout", exact: true }).check();
  await dialog.getByLabel("New value of Timeout").fill("10 minutes");
  await dialog.getByRole("checkbox", { name: "Lost after executor deaths" }).check();
  await dialog.getByLabel("New value of Lost after executor deaths").fill("2");
  await dialog.getByRole("button", { name: "Preview changes" }).click();
  await dialog.getByText("3 refused").waitFor();
  await dialog.getByText("timeout").first().waitFor();
  await dialog.getByRole("button", { name: "Back" }).click();
  await dialog.getByLabel("New value of Timeout").fill("10m");
  expect(await axe(page)).toEqual([]);
  if (shots) await page.screenshot({ path: `${shots}/form.png` });
  await dialog.getByRole("button", { name: "Preview changes" }).click();
  await dialog.getByText("2 jobs will change, 1 refused").waitFor();
  // What is refused comes first, with the reason.
  const rows = dialog.locator(".patched > ul > li");
  expect(await rows.first().textContent()).toContain("once");
  expect(await rows.nth(1).textContent()).toMatch(/load[\s\S]*10m/);
  await dialog.getByLabel("Reason").fill("slow disk");
  expect(await axe(page)).toEqual([]);
  if (shots) await page.screenshot({ path: `${shots}/review.png` });

  // Somebody else saves one meanwhile.
  await program.job("default/report", "exit 3", { tags: ["nightly"], schedule: { cron: "0 3 * * *" } });
  await dialog.getByRole("button", { name: "Save 2 jobs" }).click();
  await dialog.getByText("1 job changed, 1 refused").first().waitFor();
  await dialog.getByText("has version 2 by now").waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("1 job changed", { exact: true }).waitFor();
  const job = await stored("load");
  expect(job.definition.version).toBe(3);
  expect(job.definition.timeout).toBeUndefined();

  await begin();
  await dialog.getByRole("button", { name: "As YAML" }).click();
  const write = async (text: string) => {
    await dialog.locator(".cm-content").click();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.press("Delete");
    await page.keyboard.insertText(text);
  };
  await write("owner: night\ntimout: 1m");
  await dialog.getByRole("button", { name: "Preview changes" }).click();
  await dialog.getByText("patch.timout").waitFor();
  await write("owner: night");
  await dialog.getByRole("button", { name: "Preview changes" }).click();
  await dialog.getByRole("button", { name: "Save 3 jobs" }).click();
  await dialog.waitFor({ state: "detached" });

  // The audit log offers to undo it, too, after a review.
  await page.goto(`${program.url}/audit`);
  await page.getByText("Changed fields of many jobs").nth(1).waitFor();
  await page.getByRole("button", { name: "What changed" }).first().click();
  await page.getByRole("button", { name: "Undo" }).click();
  await dialog.getByText("3 jobs will change").waitFor();
  if (shots) await page.screenshot({ path: `${shots}/undo.png` });
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save 3 jobs" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await stored("once")).definition.owner).toBeUndefined();
  expect(faults).toEqual([]);
  await close();
});

it("the change of many jobs fits a phone, in Chinese and in the dark", async () => {
  for (const [name, options] of [
    ["phone", { viewport: { width: 390, height: 844 }, lang: "zh" }],
    ["dark", { viewport: { width: 1440, height: 900 }, lang: "zh", theme: "dark" }],
  ] as const) {
    const { page, faults, close } = await open("/jobs?tag=nightly", options);
    await page.locator("table.jobs tbody input[type=checkbox]").first().check();
    await page.getByRole("button", { name: "修改字段" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("checkbox").first().check();
    await dialog.getByRole("textbox").first().fill("10m");
    if (shots) await page.screenshot({ path: `${shots}/${name}-form.png` });
    await page.keyboard.press("Enter");
    await dialog.getByText("将修改 1 个任务").waitFor();
    expect(await axe(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/${name}-review.png` });
    expect(faults).toEqual([]);
    await close();
  }
});
