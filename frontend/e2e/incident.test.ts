import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { axe, launch, open } from "./browser.ts";
import { Program } from "./program.ts";

// The webhook is on this machine, where alerts go only if the program says so.
const program = new Program(undefined, "--alert-allow", "127.0.0.1");
let browser: Awaited<ReturnType<typeof launch>>;

interface Told {
  headers: IncomingHttpHeaders;
  body: { event?: string; link?: string; alert?: string; severity?: string; jobs?: { job: string }[] };
}

const told: Told[] = [];
const hook = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk: string) => {
    text += chunk;
  });
  request.on("end", () => {
    told.push({ headers: request.headers, body: JSON.parse(text) as Told["body"] });
    response.end("ok");
  });
});

beforeAll(async () => {
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  await program.start();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await program.remove();
  await new Promise((resolve) => hook.close(resolve));
});

it("a rule is tried, fires, tells its webhook, and is over once the job is well again", async () => {
  await program.job("default/sync", "exit 3");
  await program.job("default/calm", "true");
  for (let i = 0; i < 3; i++) await program.run("default/sync");
  await program.run("default/calm");
  await program.api("PUT", "/alerts/channels/hook", {
    channel: "hook",
    kind: "webhook",
    url: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/alerts`,
  });

  const { page, faults, close } = await open(browser, program.url, "/alerts/rules");
  await page.getByRole("button", { name: "New rule" }).first().click();
  const drawer = page.getByRole("dialog");
  await drawer.getByLabel("Name").fill("three-in-a-row");
  await drawer.locator("input[type=number]").first().fill("3");
  await drawer.getByLabel("hook").check();
  await drawer.getByRole("button", { name: "Test with the last 7 days" }).click();
  await drawer.getByText("It would have fired 1 time.").waitFor();
  await drawer.getByText("default/sync failed, 3 times in a row").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(told).toEqual([]);
  await drawer.getByRole("button", { name: "Save" }).click();
  await page.locator("tr", { hasText: "three-in-a-row" }).waitFor();

  for (let i = 0; i < 3; i++) await program.run("default/sync");
  await expect.poll(() => told.map((x) => x.headers["carillon-event"])).toContain("opened");
  expect(told[0]?.headers["idempotency-key"]).toBeTruthy();
  expect(JSON.stringify(told[0]?.body)).toContain("default/sync");
  expect(JSON.stringify(told[0]?.body)).toContain("three-in-a-row");

  // The message's link opens the incident, also after a reload; Close leaves the list.
  const link = told[0]?.body.link ?? "";
  expect(link).toMatch(/\/alerts\/incidents\/[\w-]+$/);
  await page.goto(program.url + new URL(link).pathname);
  await drawer.getByText("default/sync failed, 3 times in a row").first().waitFor();
  expect(page.url()).toContain("incident=");
  await page.reload();
  await drawer.getByText("default/sync failed, 3 times in a row").first().waitFor();
  expect(await axe(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Close" }).click();
  await page.locator("tr", { hasText: "three-in-a-row" }).waitFor();
  expect(page.url()).not.toContain("incident=");

  await page.getByRole("link", { name: "Incidents", exact: true }).click();
  await page.locator("tr", { hasText: "three-in-a-row" }).click();
  await drawer.getByRole("button", { name: "Acknowledge" }).click();
  await drawer.getByText("Acknowledged by").waitFor();
  await drawer.getByText("hook").first().waitFor();
  expect(await axe(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Close" }).click();

  await program.job("default/sync", "exit 0");
  await program.run("default/sync");
  await page.getByRole("button", { name: "Resolved", exact: true }).click();
  await page.locator("tr", { hasText: "three-in-a-row" }).waitFor();
  await expect.poll(() => told.map((x) => x.headers["carillon-event"])).toContain("recovered");
  expect(faults).toEqual([]);
  await close();
});

it("the audit log has one entry for each change, with what it changed", async () => {
  const entries = async () =>
    (
      await program.api<{ items: { operation: string; object: string; changes?: unknown[] }[] }>(
        "GET",
        "/audit-log?limit=200",
      )
    ).items;
  const before = (await entries()).length;
  const { page, faults, close } = await open(browser, program.url, "/jobs/default/calm/edit");
  await page.getByLabel("Description").first().fill("It does nothing");
  await page.keyboard.press("Control+s");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Save as v2" }).click();
  await page.waitForURL("**/jobs/default/calm");
  const more = async () => {
    const all = await entries();
    return all.slice(0, all.length - before).map((e) => `${e.operation} ${e.object}`);
  };
  await expect.poll(more).toEqual(["putJob job default/calm"]);
  const [saved] = await entries();
  expect(saved?.changes).toEqual([expect.objectContaining({ field: "description" })]);

  const run = await program.run("default/calm");
  await program.api("POST", "/jobs/default/calm/pause", { note: "an audit" });
  await program.api("POST", "/jobs/default/calm/resume", {});
  await program.api("PUT", "/groups/default", { limit: 3 });
  await program.api("DELETE", "/alerts/rules/three-in-a-row");
  await expect
    .poll(more)
    .toEqual([
      "deleteAlert alert three-in-a-row",
      "putGroup group default",
      "resumeJob job default/calm",
      "pauseJob job default/calm",
      "runJob job default/calm",
      "putJob job default/calm",
    ]);
  const ran = (await entries()).find((e) => e.operation === "runJob");
  expect(JSON.stringify(ran)).toContain(run);

  await page.goto(`${program.url}/audit`);
  await page.locator("tr", { hasText: "Change the settings of the group" }).waitFor();
  const row = page.locator("tr", { hasText: "Saved" }).filter({ hasText: "default/calm" }).first();
  await row.getByRole("button", { name: "What changed" }).click();
  await page.locator(".opened").getByText("It does nothing").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
