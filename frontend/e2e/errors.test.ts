import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

it("failures are grouped by cause, lead to their runs, and have the state of their incident", async () => {
  await program.api("PUT", "/alerts/rules/money", {
    alert: "money",
    match: { jobs: ["default/reconcile"] },
    when: { ends: ["failed"] },
    channels: [],
  });
  const refused = "echo 'dial tcp 10.2.8.14:5432: connection refused' >&2; exit 2";
  await program.job("default/reconcile", refused, { owner: "lin.wei" });
  await program.job("default/tidy", "echo 'disk sda1 is full' >&2; exit 1", {});
  for (let i = 0; i < 3; i++) await program.run("default/reconcile");
  await program.run("default/tidy");
  const { page, faults, close } = await open("/errors");
  const refusals = page.getByRole("row", { name: /connection refused/ });
  const full = page.getByRole("row", { name: /disk sda1 is full/ });
  await refusals.getByText("lin.wei").waitFor();
  await refusals.getByRole("img", { name: /^3 failed attempts/ }).waitFor();
  await full.getByRole("link", { name: "Create a rule" }).waitFor();

  // One lifecycle: who acknowledges here has acknowledged the incident.
  await refusals.getByRole("button", { name: "Firing" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByLabel(/Note/).fill("the database moves");
  await drawer.getByRole("button", { name: "Acknowledge" }).click();
  await page.keyboard.press("Escape");
  await drawer.waitFor({ state: "hidden" });
  await refusals.getByText("the database moves").waitFor();
  const { items } = await program.api<{ items: { note: string }[] }>(
    "GET",
    "/alerts/incidents?state=acknowledged",
  );
  expect(items.map((i) => i.note)).toEqual(["the database moves"]);

  // What the page is narrowed to is in its address.
  await page.getByPlaceholder("Find in messages").fill("sda");
  await refusals.waitFor({ state: "hidden" });
  await page.waitForURL("**/errors?q=sda");
  await page.reload();
  await full.waitFor();
  expect(await refusals.count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await refusals.waitFor();

  // By keyboard to the runs that failed so, and to no others.
  await page.getByRole("heading", { name: "Errors" }).focus();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/runs?*error=*");
  const rows = page.locator("table.runs tbody tr");
  await expect.poll(() => rows.count()).toBe(3);
  expect(await page.locator("table.runs").getByText("tidy").count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
});

it("a failed run leads to those that failed alike and to the last good one; any two runs can be compared", async () => {
  const log = 'for n in $(seq 1 3000); do echo "$(date +%T) row $n"; done';
  await program.job("default/import", `${log}; echo imported`, { params: { batch: 10 } });
  const good = await program.run("default/import");
  await program.job("default/import", `${log}; echo 'no space left on device' >&2; exit 3`, {
    params: { batch: 500 },
  });
  await program.run("default/import");
  const bad = await program.run("default/import");
  const { page, faults, close } = await open(`/runs/${bad}`);
  await page.getByRole("link", { name: /^2 attempts failed the same way since/ }).click();
  await page.waitForURL("**/errors?*");
  await page.getByRole("row", { name: /no space left/ }).waitFor();
  await page.goBack();

  await page.getByRole("button", { name: "Compare", exact: true }).click();
  await page.waitForURL(`**/runs/${bad}/compare`);
  await page.getByRole("row", { name: /Exit code 3 0/ }).waitFor();
  await page.getByText("Definition: v1 → v2").waitFor();
  await page.getByText(/Only the last 2,000 lines/).waitFor();
  // Rows that differ in nothing but the time of day are no difference.
  const shown = page.locator(".cm-host.diff").last();
  await shown.getByText("no space left on device").first().waitFor();
  await shown.getByText("imported").waitFor();
  expect(await shown.getByText("row 2000", { exact: false }).count()).toBe(0);
  expect(await axe(page)).toEqual([]);

  await page.goto(`${program.url}/runs?job=default%2Fimport`);
  const boxes = page.locator("table.runs tbody input[type=checkbox]");
  await boxes.first().check();
  expect(await page.getByRole("link", { name: "Compare" }).count()).toBe(0);
  await boxes.nth(1).check();
  await page.getByRole("link", { name: "Compare" }).click();
  await page.waitForURL(`**/runs/${bad}/compare?to=*`);
  await page.getByRole("row", { name: /Scheduled/ }).waitFor();
  await page.getByLabel("With").selectOption(good);
  await page.waitForURL(`**/runs/${bad}/compare?to=${good}`);
  await page.getByRole("row", { name: /Status Failed Succeeded/ }).waitFor();
  expect(faults).toEqual([]);
  await close();
});
