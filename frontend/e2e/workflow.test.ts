import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const steps = [
  { step: "extract", title: "Extract orders", task: { shell: "echo taken" } },
  { step: "clean", after: ["extract"], task: { shell: "echo boom >&2; exit 4" } },
  { step: "load", after: ["clean"], task: { shell: "true" } },
  { step: "tell", after: [{ step: "clean", on: "failure" }], task: { shell: "true" } },
  { step: "unlock", finally: true, task: { shell: "true" } },
];

const { program, open } = stage(async (p) => {
  await p.api("PUT", "/jobs/default/nightly", { job: "default/nightly", schedule: {}, steps });
});

it("the run of a workflow is walked by the keyboard, and each step says why and what it printed", async () => {
  const run = await program.run("default/nightly");
  const { page, faults, close } = await open(`/runs/${run}`);
  const tree = page.getByRole("tree");
  await tree.getByRole("treeitem", { name: "step 2 of 5, clean, failed, after extract" }).waitFor();
  await tree.getByRole("treeitem", { name: "step 3 of 5, load, skipped, after clean" }).waitFor();
  expect(await axe(page)).toEqual([]);

  await tree.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("f");
  await page.keyboard.press("Enter");
  const panel = page.getByRole("complementary", { name: "Step clean" });
  await panel.getByText("exit code 4").first().waitFor();
  await panel.locator(".ll").getByText("boom").waitFor();
  expect(page.url()).toContain("step=clean");
  expect(await axe(page)).toEqual([]);

  await page.reload();
  await panel.locator(".ll").getByText("boom").waitFor();
  await tree.focus();
  await page.keyboard.press("g");
  const table = page.getByRole("table");
  await table.getByRole("row", { name: /load.*Skipped.*clean/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Timeline", exact: true }).click();
  await page.getByRole("button", { name: /^Extract orders, Succeeded, .*critical path/ }).waitFor();
  expect(await axe(page)).toEqual([]);

  await panel.getByRole("link", { name: "Open as run" }).click();
  await page.getByRole("link", { name: /Step clean of run/ }).click();
  await tree.waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a line that is found in the logs says which step of which run printed it", async () => {
  const run = await program.run("default/nightly");
  const found = () => program.api<{ items: { workflow_run_id?: string }[] }>("GET", "/logs?text=boom");
  await expect.poll(async () => (await found()).items.map((hit) => hit.workflow_run_id)).toContain(run);
  const { page, faults, close } = await open("/logs?q=boom");
  const link = page.getByRole("link", { name: `Step clean of run ${run.slice(-8)}` });
  await link.waitFor();
  expect(await axe(page)).toEqual([]);
  await link.click();
  await page.getByRole("complementary", { name: "Step clean" }).waitFor();
  expect(page.url()).toContain(run);
  expect(faults).toEqual([]);
  await close();
});

it("a rerun from a step says before what becomes of each", async () => {
  const run = await program.run("default/nightly");
  const { page, faults, close } = await open(`/runs/${run}?step=clean`);
  await page.getByRole("button", { name: "Rerun from here" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("row", { name: /extract.*Taken over/ }).waitFor();
  await dialog.getByRole("row", { name: /clean.*Runs/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Run again" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(run));
  await page.getByRole("treeitem", { name: /Extract orders, succeeded/ }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("the page of a workflow shows its graph, and lists say how many steps it has", async () => {
  const { page, faults, close } = await open("/jobs", { lang: "zh" });
  await page.getByText("5 个步骤").waitFor();
  await page.goto(`${program.url}/jobs/default/nightly/graph`);
  await page.getByRole("treeitem", { name: /^步骤 4\/5，tell，.*依赖 clean$/ }).click();
  await page.locator(".jsonbox", { hasText: "on: failure" }).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("steps are edited as a form and as YAML beside their graph, which marks what is wrong", async () => {
  const { page, faults, close } = await open("/jobs/default/nightly/edit");
  const item = (name: string) => page.locator(".stepitem", { hasText: name });
  await page.getByRole("button", { name: "YAML", exact: true }).click();
  await page.locator(".cm-content").getByText("steps:").waitFor();
  await page.getByRole("button", { name: "Form", exact: true }).click();
  await item("unlock").waitFor();
  await page.getByText("No changes").waitFor();

  await page.getByRole("treeitem", { name: /, load,/ }).click();
  expect(await axe(page)).toEqual([]);
  const condition = page.locator(".stepfields").getByLabel(/^If/);
  await condition.fill("results.nobody.rows > 0");
  await condition.blur();
  await item("load").getByText("has a problem").waitFor();
  await page.getByRole("treeitem", { name: /, load, has a problem/ }).waitFor();
  await condition.fill("");
  const name = page.locator(".stepfields").getByLabel("Name", { exact: true });
  await name.fill("store");
  await page.getByRole("treeitem", { name: /, store, after clean/ }).waitFor();
  await page.getByRole("button", { name: /^Save as v2/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: /Save/ }).click();
  await page.waitForURL(/jobs\/default\/nightly$/);
  const saved = await program.api<{ definition: { steps: { step: string }[] } }>(
    "GET",
    "/jobs/default/nightly",
  );
  expect(saved.definition.steps.map((s) => s.step)).toEqual(["extract", "clean", "store", "tell", "unlock"]);
  expect(faults).toEqual([]);
  await close();
});

it("a version shows in one graph which steps and edges it has added, changed and removed", async () => {
  const save = (...of: object[]) =>
    program.api("PUT", "/jobs/default/versioned", { job: "default/versioned", schedule: {}, steps: of });
  const task = { shell: "true" };
  await save({ step: "load", task }, { step: "book", after: ["load"], task }, { step: "old", task });
  await save(
    { step: "load", task },
    { step: "book", after: [{ step: "load", on: "end" }], task },
    { step: "tell", after: [{ step: "load", on: "failure" }], task },
  );
  const { page, faults, close } = await open("/jobs/default/versioned/versions");
  const difference = page.getByRole("region", { name: "What has become of the steps" });
  await difference.getByText("1 step added; 1 step removed; 1 step changed").waitFor();
  await difference.getByRole("treeitem", { name: /tell, added, after load/ }).waitFor();
  await difference.getByRole("treeitem", { name: /book, changed, after load/ }).waitFor();
  await difference.getByRole("treeitem", { name: /old, removed/ }).waitFor();
  await difference.getByText("Edges added").waitFor();
  expect(await difference.locator("p").last().textContent()).toBe("Edges removedload → book on success");
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("the page of a workflow tells by graph, run by run and in figures how its steps did", async () => {
  await program.run("default/nightly");
  await program.run("default/nightly");
  const { page, faults, close } = await open("/jobs/default/nightly/graph");
  await page.getByRole("treeitem", { name: /, clean, 100.0% failed · p95 .*, after extract/ }).waitFor();
  await page.getByText(/\d+ runs in this range/).waitFor();
  expect(await axe(page)).toEqual([]);

  await page.getByRole("button", { name: "Runs", exact: true }).click();
  const grid = page.getByRole("grid", { name: /Steps in \d+ runs/ });
  await grid.getByRole("row").nth(5).waitFor();
  expect(await grid.getByRole("rowheader").allTextContents()).toEqual([
    "Extract orders",
    "clean",
    "store",
    "tell",
    "unlock",
    "loadremoved", // which only runs of an older version have
  ]);
  expect(await axe(page)).toEqual([]);
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  await grid.locator("[tabindex='0']").focus();
  expect(await focused()).toMatch(/^Run of .*, failed, /);
  await page.keyboard.press("ArrowDown");
  await expect.poll(focused).toMatch(/^Extract orders, succeeded /);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowLeft");
  await expect.poll(focused).toMatch(/^clean, failed /);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname.includes("/runs/") && url.search === "?step=clean");

  await page.goto(`${program.url}/jobs/default/nightly/graph?view=figures`);
  await page
    .getByRole("row", { name: /^clean .*100.0%/ })
    .getByRole("link", { name: /Failed/ })
    .click();
  await page.waitForURL((url) => url.pathname.includes("/runs/") && url.search === "?step=clean");
  expect(faults).toEqual([]);
  await close();
});

it("the page of a workflow shows how its steps did in the chosen range, whichever view is chosen", async () => {
  await program.run("default/nightly");
  const { page, faults, close } = await open("/jobs/default/nightly/graph?view=grid");
  await page.getByRole("grid", { name: /Steps in \d+ runs?/ }).waitFor();
  await page.getByRole("button", { name: "Range: 30d" }).click();
  await page.getByRole("dialog", { name: "Range" }).getByRole("button", { name: "Yesterday" }).click();
  await page.getByText("No runs in this range.").waitFor();
  await page.getByRole("button", { name: "Graph", exact: true }).click();
  await page.getByText("0 runs in this range").waitFor();
  await page.getByRole("treeitem", { name: "step 2 of 5, clean, after extract" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Runs", exact: true }).click();
  await page.waitForURL(/\?range=yesterday&view=grid$/);
  await page.getByText("No runs in this range.").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("the runs of a workflow fit a phone, in Chinese", async () => {
  await program.run("default/nightly");
  const { page, faults, close } = await open("/jobs/default/nightly/graph?view=grid", {
    lang: "zh",
    viewport: { width: 390, height: 844 },
  });
  await page
    .getByRole("grid", { name: /\d+ 次运行的步骤状态/ })
    .getByRole("link", { name: /^clean，失败/ })
    .first()
    .waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
