import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const steps = [
  { step: "build", task: { shell: "true" } },
  { step: "paid", after: ["build"], wait: { signal: "paid", key: "${params.order}", expires: "2d" } },
  { step: "ok", title: "Release it", after: ["build"], wait: { approval: {}, expires: "8h" } },
  { step: "ship", after: ["paid", "ok"], task: { shell: "true" } },
];
const own = [{ step: "four_eyes", wait: { approval: { not_by_requester: true } } }];

const { program, open } = stage(async (p) => {
  await p.api("PUT", "/jobs/default/release", {
    job: "default/release",
    schedule: {},
    params: { order: "17" },
    steps,
  });
  await p.api("PUT", "/jobs/default/audited", { job: "default/audited", schedule: {}, steps: own });
});

const start = (job: string) => program.api<{ run_id: string }>("POST", `/jobs/${job}/run`, {});

it("a step is approved from the list, and another one gets its signal: the run goes on", async () => {
  const { page, faults, close } = await open("/jobs");
  const badge = page.locator('nav.navs a[href$="/approvals"] .n');
  const { run_id } = await start("default/release");
  await badge.getByText("1", { exact: true }).waitFor(); // without a reload
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.waitForURL(/\/approvals$/);
  const item = page.locator(".approvals > li", { hasText: "Release it" });
  await item.getByText("Waits for approval by role Operator").waitFor();
  expect(await axe(page)).toEqual([]);

  await item.getByRole("link", { name: "Release it" }).click();
  await page.waitForURL(new RegExp(`/runs/${run_id}\\?step=ok$`));
  const panel = page.getByRole("complementary");
  await panel.getByText("Waits for approval", { exact: true }).waitFor();
  await page
    .getByRole("treeitem", { name: /Release it, waits for approval \(approval\), after build/ })
    .waitFor();
  await page
    .getByRole("treeitem", { name: /paid, waits for a signal \(signal paid\), after build/ })
    .waitFor();
  expect(await axe(page)).toEqual([]);
  await panel.getByRole("button", { name: "Approve" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/^Note/).fill("checked");
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.getByRole("treeitem", { name: /Release it, succeeded/ }).waitFor();
  await badge.waitFor({ state: "detached" });
  await panel.getByText("checked").first().waitFor();

  await page.getByRole("treeitem", { name: /, paid,/ }).click();
  await panel.getByText("Waits for signal paid with key 17").waitFor();
  await panel.getByRole("button", { name: "Send signal" }).click();
  await dialog.getByText("17").waitFor();
  await dialog.locator(".cm-content").fill('{"sum":3}');
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Send signal" }).click();
  await page.getByRole("treeitem", { name: /ship, succeeded/ }).waitFor();
  await panel.locator(".jsonbox", { hasText: '"sum": 3' }).waitFor();
  await page.getByRole("button", { name: "Steps", exact: true }).click();
  await page.getByRole("row", { name: /Release it.*Succeeded/ }).waitFor();
  await page.getByRole("button", { name: "Timeline", exact: true }).click();
  await page.getByRole("button", { name: /^paid, Succeeded/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("who started a run is told that somebody else has to approve it", async () => {
  await start("default/audited");
  const { page, faults, close } = await open("/approvals", { lang: "zh", theme: "dark" });
  await page.getByText("没有待您审批的步骤").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "全部（1）" }).first().click();
  const item = page.locator(".approvals > li", { hasText: "four_eyes" });
  await item.locator(".whynot").waitFor();
  expect(await item.locator(".whynot").textContent()).toMatch(/\p{Script=Han}/u);
  expect(await item.getByRole("button", { name: "批准" }).isDisabled()).toBe(true);
  expect(await axe(page)).toEqual([]);
  await item.getByRole("link", { name: "four_eyes" }).click();
  const panel = page.getByRole("complementary");
  await panel.locator(".whynot").waitFor();
  expect(await panel.getByRole("button", { name: "驳回" }).isDisabled()).toBe(true);
  expect(faults).toEqual([]);
  await close();
});

it("a wait is edited as a form and as YAML, and what is wrong is said at its field", async () => {
  const { page, faults, close } = await open("/jobs/default/release/edit");
  const button = (name: string | RegExp) => page.getByRole("button", { name, exact: true });
  await page.locator(".stepitem", { hasText: "ship" }).click();
  await page.locator(".tcard", { hasText: "Wait" }).click();
  await button("An approval").click();
  const by = page.getByLabel("Who may approve", { exact: true });
  await by.fill("li.wei");
  await by.blur();
  await page.locator(".stepfields .ferr", { hasText: "user:NAME or role:ROLE" }).waitFor();
  await page.getByRole("treeitem", { name: /, ship, has a problem/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  await by.fill("user:li.wei\nrole:admin");
  await page.getByLabel("Expires after").fill("4h");
  await button("YAML").click();
  const text = page.locator(".cm-content");
  await text.getByText("user:li.wei").waitFor();
  await button("Form").click();
  await page.locator(".stepitem").getByText("paid", { exact: true }).click();
  await page.getByLabel("Signal", { exact: true }).waitFor();
  expect(await page.getByLabel("Signal", { exact: true }).inputValue()).toBe("paid");
  expect(await axe(page)).toEqual([]);
  await button(/^Save as v2/).click();
  await page.getByRole("dialog").getByRole("button", { name: /Save/ }).click();
  await page.waitForURL(/jobs\/default\/release$/);
  const { definition } = await program.api<{ definition: { steps: object[] } }>(
    "GET",
    "/jobs/default/release",
  );
  expect(definition.steps.at(-1)).toEqual({
    step: "ship",
    after: ["paid", "ok"],
    wait: { approval: { by: ["user:li.wei", "role:admin"] }, expires: "4h" },
  });
  await page.goto(`${program.url}/jobs/default/release/graph`);
  await page.getByRole("treeitem", { name: /, ship, .*after paid and ok/ }).click();
  await page.getByText("approval by li.wei or role Admin").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
