import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { patience } from "./patience.ts";
import { stage } from "./stage.ts";

/** Tells the steps that wait for a file to go on. */
const go = (file: string) => writeFileSync(join(program.data, file), "");

/** A workflow in which load fails until its file is there, and hold keeps the run alive until its own is. */
function nightly(name: string) {
  const file = (kind: string) => join(program.data, `${name}-${kind}`);
  return [
    { step: "load", task: { shell: `test -f ${file("load")} || exit 4` } },
    {
      step: "book",
      after: ["load"],
      params: { rows: "${results.load}" },
      task: { shell: 'echo "given $CARILLON_PARAMS"' },
    },
    { step: "hold", task: { shell: `until [ -f ${file("hold")} ]; do sleep 0.1; done` } },
  ];
}

const { program, open } = stage(async (p) => {
  for (const name of ["retried", "resolved"])
    await p.api("PUT", `/jobs/default/${name}`, {
      job: `default/${name}`,
      schedule: {},
      steps: nightly(name),
    });
  await p.job("default/close", "echo closing");
  await p.api("PUT", "/jobs/default/month", {
    job: "default/month",
    schedule: {},
    steps: [{ step: "close_books", call: "default/close" }],
  });
});

/** Starts a run and opens its page at a step, which has failed. */
async function failedAt(name: string) {
  const { run_id } = await program.api<{ run_id: string }>("POST", `/jobs/default/${name}/run`, {});
  const tab = await open(`/runs/${run_id}?step=load`);
  await tab.page.getByRole("treeitem", { name: /load, failed/ }).waitFor();
  await tab.page.getByRole("treeitem", { name: /book, skipped/ }).waitFor();
  return tab;
}

it("a failed step is retried while its run is alive, and the run goes on from there", async () => {
  const { page, faults, close } = await failedAt("retried");
  const panel = page.getByRole("complementary", { name: "Step load" });
  go("retried-load");
  await panel.getByRole("button", { name: "Retry step" }).click();
  await page.getByRole("treeitem", { name: /load, succeeded/ }).waitFor();
  await page.getByRole("treeitem", { name: /book, succeeded/ }).waitFor();
  await panel.getByRole("button", { name: "Retry step" }).waitFor({ state: "detached" });
  await panel.getByLabel("Rounds of the step").selectOption("Round 1");
  await panel.getByText("exit code 4").first().waitFor();
  expect(await axe(page)).toEqual([]);
  await page.reload();
  await panel.getByText("exit code 4").first().waitFor();
  expect(page.url()).toContain("step=load&round=1");
  await panel.getByLabel("Rounds of the step").selectOption("Round 2");
  await panel.getByText("retried by").waitFor();
  go("retried-hold");
  await page.getByRole("status").filter({ hasText: "Succeeded" }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a failed step is resolved by hand with a result, which the next step is given", async () => {
  const { page, faults, close } = await failedAt("resolved");
  await page.getByRole("button", { name: "Resolve", exact: true }).click();
  const dialog = page.getByRole("dialog");
  expect(await axe(page)).toEqual([]);
  await dialog.locator(".cm-content").fill('{"rows": 3');
  expect(await dialog.getByRole("button", { name: "Resolve", exact: true }).isDisabled()).toBe(true);
  await dialog.locator(".cm-content").fill('{"rows": 3}');
  await dialog.getByLabel(/What was done/).fill("loaded from the backup");
  await dialog.getByRole("button", { name: "Resolve", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("treeitem", { name: /load, succeeded/ }).waitFor();
  await page
    .getByRole("complementary")
    .getByText(/resolved by .*loaded from the backup/)
    .waitFor();
  const book = page.getByRole("treeitem", { name: /book, succeeded/ });
  await book.click();
  await page
    .getByRole("complementary", { name: "Step book" })
    .locator(".ll")
    .getByText('given {"rows":{"rows":3}}')
    .waitFor();
  go("resolved-hold");
  await page.getByRole("status").filter({ hasText: "Succeeded" }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a step that calls a job leads to the called run, which leads back to the step", async () => {
  const run = await program.run("default/month");
  const { page, faults, close } = await open(`/runs/${run}`);
  await page.getByRole("treeitem", { name: /close_books, succeeded/ }).click();
  const panel = page.getByRole("complementary", { name: "Step close_books" });
  await panel.getByText("calls").waitFor();
  await panel.locator(".ll").getByText("closing").waitFor();
  await panel.getByRole("link", { name: "Open the called run" }).click();
  await page.getByRole("heading", { level: 1, name: "close", exact: true }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("link", { name: /^Step close_books of run/ }).click();
  await panel.waitFor();
  await expect.poll(() => page.url(), { timeout: patience }).toContain(`${run}?step=close_books`);
  expect(faults).toEqual([]);
  await close();
});
