import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

interface Ledger {
  items: { steps?: { step: string; outcome: string; reason?: object }[] }[];
}

const { program, open } = stage(async (p) => {
  await p.api("PUT", "/jobs/default/nightly", {
    job: "default/nightly",
    schedule: {},
    steps: [
      { step: "extract", task: { shell: "true" } },
      { step: "clean", after: ["extract"], task: { shell: "exit 4" } },
      { step: "load", after: ["clean"], task: { shell: "true" } },
    ],
  });
  const first = await p.run("default/nightly");
  await p.api("POST", `/runs/${first}/rerun`, { from: ["clean"] });
});

/** Waits until the ledger has judged all steps of the run and of its rerun. */
const judged = () =>
  expect
    .poll(async () => {
      const { items } = await program.api<Ledger>("GET", "/jobs/default/nightly/ledger?steps=true");
      return items.flatMap((e) => (e.steps ?? []).map((s) => s.outcome));
    })
    .toEqual(["ran", "ran", "skipped", "ran", "ran", "skipped"]);

it("a run of a workflow opens by the keyboard to its steps, and each says what became of it", async () => {
  await judged();
  const { page, faults, close } = await open("/jobs/default/nightly/ledger");
  const opener = (cause: RegExp) =>
    page.getByRole("row", { name: cause }).getByRole("button", { name: "Steps of the run" });
  await opener(/ Rerun /).focus();
  expect(await page.getByRole("row", { name: /extract/ }).count()).toBe(0);
  await page.keyboard.press("Enter");
  expect(await opener(/ Rerun /).getAttribute("aria-expanded")).toBe("true");
  const rows = async () =>
    (await page.getByRole("row").allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
  const steps = [
    /^extract Ran Succeeded .* taken over from run/,
    /^clean Ran Failed .* exit code 4/,
    /^load Skipped Skipped — it runs on success of step clean/,
  ];
  await expect.poll(rows).toEqual(expect.arrayContaining(steps.map((step) => expect.stringMatching(step))));
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press("Space");
  expect(await page.getByRole("row", { name: /extract/ }).count()).toBe(0);
  await page.keyboard.press("Enter");
  await page
    .getByRole("row", { name: /exit code 4/ })
    .getByRole("link")
    .click();
  await page.getByRole("link", { name: /Step clean of run/ }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a step that contradicts the graph is marked, and one that was called off says why", async () => {
  await judged();
  const { page, faults, close } = await open("/jobs/default/nightly/graph", { lang: "zh" });
  await page.route("**/ledger?*", async (route) => {
    const answer = await route.fetch();
    const ledger: Ledger = await answer.json();
    for (const step of ledger.items.flatMap((e) => e.steps ?? [])) {
      if (step.step === "clean")
        Object.assign(step, {
          outcome: "cancelled",
          reason: { code: "step_stopped", text: "", params: { step: "extract" } },
        });
      if (step.step === "load")
        Object.assign(step, {
          outcome: "discrepancy",
          reason: { code: "step_before_source", text: "", params: { step: "clean" } },
        });
    }
    await route.fulfill({ response: answer, json: ledger });
  });
  await page.goto(page.url().replace(/graph$/, "ledger"));
  await page.getByRole("button", { name: "该运行的步骤" }).first().click();
  await page
    .getByRole("row", { name: /clean 已取消 .* 步骤 extract 未正常结束，其后不再开始其他步骤/ })
    .waitFor();
  await page.getByRole("row", { name: /load 差异 .* 它没有等待步骤 clean 结束/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
