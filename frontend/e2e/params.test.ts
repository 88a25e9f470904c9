import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

const schema = {
  type: "object",
  required: ["day"],
  properties: {
    day: { type: "string", title: "Day of the week" },
    rows: { type: "integer", minimum: 1, maximum: 10 },
  },
};

it("a run's parameters are asked for by the form of their schema, and again when it is rerun", async () => {
  await program.job("default/asks", "echo got $CARILLON_PARAMS", {
    params: { day: "monday" },
    params_schema: schema,
  });
  const { page, faults, close } = await open("/jobs/default/asks");
  await page.getByRole("button", { name: "Run with parameters…" }).click();
  await page.getByRole("menuitem", { name: "Run with parameters…" }).click();
  const dialog = page.getByRole("dialog");
  const day = dialog.getByLabel("Day of the week");
  const rows = dialog.getByLabel("rows");
  expect(await day.inputValue()).toBe("monday");
  await rows.fill("99");
  await dialog.getByRole("button", { name: "Run now" }).click();
  await page.locator(".toast", { hasText: "params.rows" }).waitFor();
  await rows.fill("7");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("button", { name: "Open run" }).click();
  await page.locator(".ll").getByText('got {"day":"monday","rows":7}').waitFor();

  await page.getByText("Succeeded").first().waitFor();
  await page.getByRole("button", { name: "Again, with options…" }).click();
  expect(await rows.inputValue()).toBe("7");
  await rows.fill("99");
  await dialog.getByRole("button", { name: "Run again" }).click();
  await dialog.getByText("params.rows").waitFor();
  await rows.fill("8");
  await dialog.getByRole("button", { name: "Run again" }).click();
  await page.locator(".ll").getByText('got {"day":"monday","rows":8}').waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a refusal of parameters names the field to who reads Chinese, too", async () => {
  await program.job("default/asks-zh", "true", { params: { day: "monday" }, params_schema: schema });
  const { page, close } = await open("/jobs/default/asks-zh", { lang: "zh" });
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "带参数执行…" }).click();
  await page.getByRole("menuitem", { name: "带参数执行…" }).click();
  await dialog.getByLabel("rows").fill("99");
  await dialog.getByRole("button", { name: "立即执行" }).click();
  await page.locator(".toast", { hasText: "未能开始运行" }).getByText("params.rows").waitFor();
  await close();
});
