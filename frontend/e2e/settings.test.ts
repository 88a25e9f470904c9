import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  await p.job("default/noisy", "echo one; echo two", { schedule: { cron: "0 * * * *" } });
  await p.run("default/noisy");
});

it("navigation, rows and hours are as one chose them, and stay so", async () => {
  await program.job("default/hours", "true");
  await program.run("default/hours");
  const { page, faults, close } = await open("/settings/profile");
  const look = () => page.locator("html").evaluate((e) => ({ ...e.dataset }));
  await page.getByRole("button", { name: "Collapse the navigation" }).click();
  await page.getByRole("button", { name: "Compact" }).click();
  await page.getByRole("button", { name: "12 hours" }).click();
  expect(await look()).toMatchObject({ side: "narrow", rows: "compact" });
  expect(await axe(page)).toEqual([]);

  await page.goto(`${program.url}/jobs`);
  await page.locator("tbody td").first().waitFor();
  expect(await look()).toMatchObject({ side: "narrow", rows: "compact" });
  expect(
    await page
      .locator("tbody tr td")
      .first()
      .evaluate((e) => e.getBoundingClientRect().height),
  ).toBeLessThan(60);
  expect(
    await page.locator("aside.side").evaluate((e) => e.getBoundingClientRect().width),
  ).toBeLessThanOrEqual(56);
  expect(await axe(page)).toEqual([]);
  await page.goto(`${program.url}/runs?range=24h`);
  await page
    .locator("tbody")
    .getByText(/\d\d:\d\d:\d\d [ap]m/)
    .first()
    .waitFor();
  await page.getByRole("button", { name: "Expand the navigation" }).click();
  expect(await page.locator("aside.side").evaluate((e) => e.getBoundingClientRect().width)).toBe(228);
  expect(faults).toEqual([]);
  await close();
});

it("a rule of retention shows what it does to the disk, and is saved after a question", async () => {
  const { page, faults, close } = await open("/settings/retention", { theme: "dark" });
  await page.getByLabel("Runs: All jobs").fill("30 days");
  expect(await page.getByRole("button", { name: "Save retention" }).isDisabled()).toBe(true);
  await page.getByLabel("Runs: All jobs").fill("60d");
  await page.getByRole("button", { name: "Rule for a job" }).click();
  await page.getByLabel("Job", { exact: true }).fill("default/noisy");
  await page.getByLabel("Log lines: default/noisy").fill("12h");
  await page.getByText("Long-term estimate").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Save retention" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Nothing is deleted now.").waitFor();
  await dialog.getByLabel("Reason").fill("it prints too much");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save retention" }).click();
  await page.getByText("Retention saved").waitFor();
  const { retention } = await program.api<{ retention: unknown }>("GET", "/retention");
  expect(retention).toEqual({
    default: { runs: "1440h", logs: "168h" },
    jobs: { "default/noisy": { logs: "12h" } },
  });
  await page.reload();
  await page.getByLabel("Log lines: default/noisy").waitFor();
  expect(await page.getByLabel("Runs: All jobs").inputValue()).toBe("60d");
  expect(faults).toEqual([]);
  await close();
});

it("secrets are made, replaced and deleted by group, and never shown", async () => {
  const { page, faults, close } = await open("/settings/secrets");
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "New secret…" }).click();
  await dialog.getByLabel("Name").fill("db-password");
  await dialog.getByLabel("Value").fill("hunter2");
  await dialog.getByLabel("What it is for").fill("the ledger");
  await dialog.getByRole("button", { name: "Save secret" }).click();
  const row = page.locator("tr", { hasText: "db-password" });
  await row.getByText("the ledger").waitFor();
  expect(await axe(page)).toEqual([]);
  await row.getByRole("button", { name: "Replace db-password" }).click();
  expect(await dialog.getByLabel("Value").inputValue()).toBe("");
  await dialog.getByLabel("Value").fill("hunter3");
  await dialog.getByRole("button", { name: "Save secret" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await page.content()).not.toContain("hunter");
  expect(faults).toEqual([]);
  await close();
});

it("filters are saved as a view, opened again, and forgotten", async () => {
  await program.job("billing/report", "true");
  const { page, faults, close } = await open("/jobs?group=billing");
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: "Save these filters…" }).click();
  await dialog.getByLabel("Name").fill("billing only");
  await page.keyboard.press("Enter");
  const tab = page.getByRole("navigation", { name: "Jobs" }).getByRole("link", { name: "billing only" });
  await tab.waitFor();
  expect(await axe(page)).toEqual([]);
  await page.goto(`${program.url}/jobs`);
  await page.locator("table.jobs").getByText("noisy").waitFor();
  await tab.click();
  await page.waitForURL("**/jobs?group=billing");
  await page.getByText("1 job", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Views billing only" }).click();
  await page.getByRole("menuitem", { name: "Delete the view billing only" }).click();
  await tab.waitFor({ state: "detached" });

  await page.goto(`${program.url}/runs?status=succeeded&range=7d`);
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: "Save these filters…" }).click();
  await dialog.getByLabel("Name").fill("good ones");
  await dialog.getByRole("button", { name: "Save view" }).click();
  await page.goto(`${program.url}/runs`);
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitemcheckbox", { name: "good ones" }).click();
  await page.waitForURL("**/runs?status=succeeded&range=7d");
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("the overview reports how runs go, and in which ways they fail", async () => {
  await program.job("default/broken", "echo cannot reach 10.2.8.14 >&2; exit 3");
  const run = await program.run("default/broken");
  const { page, faults, close } = await open("/");
  await page.getByText("Failures by cause").waitFor();
  await page.getByRole("img", { name: /^Failed, from/ }).waitFor();
  await page.getByRole("button", { name: "Duration p95" }).click();
  const trend = page.locator(".card", { hasText: "Trend" });
  await trend.getByRole("button", { name: "As a table" }).click();
  await trend.locator(".trendtable tbody tr").first().waitFor();
  expect(await axe(page)).toEqual([]);
  const failure = page.locator("li", { hasText: "default/broken" }).getByRole("link").first();
  await failure.click();
  await page.waitForURL(`**/runs/${run}*`);
  await page.goto(`${program.url}/jobs/default/broken/runs`);
  await page.getByText("Failures by cause").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
