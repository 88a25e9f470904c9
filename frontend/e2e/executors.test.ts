import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const scratch = mkdtempSync(join(tmpdir(), "carillon-executors-"));

interface Instance {
  instance: string;
  state: string;
  slots: number;
  labels?: Record<string, string>;
}

afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const { program, open } = stage(async (p) => {
  await p.job("default/quick", "echo done");
  await p.run("default/quick"); // so the executor is there
});

async function executor(): Promise<Instance> {
  const { items } = await program.api<{ items: { executor_group: string; instances: Instance[] }[] }>(
    "GET",
    "/groups",
  );
  const [instance] = items.find((g) => g.executor_group === "default")?.instances ?? [];
  if (!instance) throw new Error("no executor");
  return instance;
}

it("an executor that is drained finishes its run, takes no other, and is told to stay", async () => {
  const enough = join(scratch, "enough");
  await program.job("default/long", `while [ ! -e ${enough} ]; do sleep 0.2; done; echo finished`);
  const long = await program.api<{ run_id: string }>("POST", "/jobs/default/long/run", {});
  const { page, faults, close } = await open("/executors");
  const row = page.locator("table.instances tbody tr");
  await row.getByText(/^1\//).waitFor();
  expect(await axe(page)).toEqual([]);
  await row.getByRole("button", { name: "Drain" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 run has to finish first:").waitFor();
  await dialog.getByText("default/long").waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByLabel("Wait").selectOption("Another duration");
  await dialog.getByLabel("At most").fill("90m");
  await dialog.getByText("Runs still in progress then are cancelled").waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Drain" }).click();
  await row.getByText("Draining").waitFor();
  await row.getByText("stops within 1h 30m").waitFor();
  const waits = await program.api<{ run_id: string }>("POST", "/jobs/default/quick/run", {});
  await row.getByRole("button", { name: "Resume" }).click();
  await row.getByText("Online").waitFor();
  writeFileSync(enough, "");
  await page.goto(`${program.url}/runs/${waits.run_id}`);
  await page.getByText("Succeeded").first().waitFor();
  await page.goto(`${program.url}/runs/${long.run_id}`);
  await page.getByText("Succeeded").first().waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a group shows how busy it was, as charts and as a table", async () => {
  await program.job("alone/waits", "echo nobody runs it");
  await program.api("POST", "/jobs/alone/waits/run", {});
  const { page, faults, close } = await open("/executors/alone");
  const waiting = page.getByRole("region", { name: "Longest wait" }).getByRole("img");
  await expect
    .poll(async () => waiting.getAttribute("aria-label"))
    .toMatch(/^Longest wait \(24h\): at most [1-9]/);
  await waiting.focus();
  await page.keyboard.press("ArrowLeft");
  await page.locator(".usage .tt b").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Range: 24h" }).click();
  await page.getByRole("dialog", { name: "Range" }).getByRole("button", { name: "7d" }).click();
  await page.waitForURL("**/executors/alone?range=7d");
  await page.getByRole("img", { name: /^Longest wait \(7d\): at most [1-9]/ }).waitFor();
  await page.getByRole("button", { name: "As a table" }).click();
  const row = page.getByRole("region", { name: "Usage" }).locator("tbody tr").first();
  await row.waitFor();
  expect(await row.locator("td").count()).toBe(6);
  expect(await row.locator("td").nth(2).textContent()).not.toBe("0");
  expect(await axe(page)).toEqual([]);
  await page.goto(`${program.url}/executors/default`);
  await page.getByRole("img", { name: /^Slots in use, on average \(7d\): .*; \d+ slots now$/ }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a job shows how many of its runs ran at once, beside its limit", async () => {
  await program.job("default/alone", "sleep 1", { overlap: { policy: "skip", limit: 2 } });
  await program.run("default/alone");
  const { page, faults, close } = await open("/jobs/default/alone");
  const card = page.locator(".card", { has: page.getByRole("heading", { name: "Concurrency" }) });
  await card
    .getByRole("img", { name: /^Runs at once, on average \(24h\): .*; at most 2 at once$/ })
    .waitFor();
  await card.getByRole("button", { name: "Range: 24h" }).click();
  await page.getByRole("dialog", { name: "Range" }).getByRole("button", { name: "1h", exact: true }).click();
  await page.waitForURL("**/jobs/default/alone?range=1h");
  await card.getByRole("img", { name: /^Runs at once, on average \(1h\)/ }).waitFor();
  expect(await axe(page)).toEqual([]);
  await card.getByRole("button", { name: "As a table" }).click();
  await card.getByRole("columnheader", { name: "Runs at once, on average" }).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("an instance's slots and labels are changed, and cordoning is undone", async () => {
  const { page, faults, close } = await open("/executors");
  const { instance } = await executor();
  await page.getByRole("link", { name: instance, exact: true }).click();
  await page.waitForURL(`**/executors/default/${instance}`);
  await page.getByRole("button", { name: `More actions: ${instance}` }).click();
  await page.getByRole("menuitem", { name: "Slots and labels…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Slots").fill("3");
  await dialog.getByLabel("Labels").fill("zone=eu-1\ndisk=fast");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByText("disk=fast").waitFor();
  expect(await executor()).toMatchObject({ slots: 3, labels: { zone: "eu-1", disk: "fast" } });

  await page.getByRole("button", { name: `More actions: ${instance}` }).click();
  await page.getByRole("menuitem", { name: "Cordon" }).click();
  await page.getByText("Cordoned").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Online").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("an instance shows which of its messages was refused", async () => {
  const { instance } = await executor();
  await publish("evt.3.default", "event.v9", JSON.stringify({ instance }));
  const { page, faults, close } = await open("/executors");
  await page.locator("table.instances tbody tr").getByText("1 message refused").waitFor();
  await page.getByRole("link", { name: instance, exact: true }).click();
  await page.getByText('Carillon-Message "event.v9" must be', { exact: false }).waitFor();
  await page.getByText(/^EVT \d+ evt\.3\.default$/).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

/** Publishes a message on the program's NATS, as a faulty executor would. */
async function publish(subject: string, kind: string, data: string): Promise<void> {
  const header = `NATS/1.0\r\nCarillon-Message: ${kind}\r\n\r\n`;
  const { hostname, port } = new URL(program.natsURL);
  const socket = connect(Number(port), hostname);
  socket.write(
    `CONNECT {"headers":true,"verbose":false}\r\nHPUB ${subject} ${header.length} ${header.length + data.length}\r\n${header}${data}\r\nPING\r\n`,
  );
  let said = "";
  for await (const chunk of socket) {
    said += String(chunk);
    if (said.includes("PONG")) break;
  }
  socket.destroy();
}

it("a group is prepared before anything connects", async () => {
  const { page, faults, close } = await open("/executors");
  await page.locator(".kpi", { hasText: "Waited p99" }).waitFor();
  await page.getByRole("button", { name: "New group" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("default");
  expect(await dialog.getByRole("button", { name: "Set it up" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Name").fill("ledgers");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Set it up" }).click();
  await page.waitForURL("**/executors/ledgers");
  await page.getByText("No executor: runs of this group wait. Start one:").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a group is limited, and its jobs wait by priority", async () => {
  await program.job("default/urgent", "true", { priority: "high" });
  const { page, faults, close } = await open("/executors/default", { theme: "dark" });
  await page.getByRole("button", { name: "Limits…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Concurrent runs").fill("2");
  await dialog.getByLabel("Runs started per second").fill("5");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("by priority, when the dispatcher assigns them").waitFor();
  await page.locator("li", { hasText: "default/urgent" }).getByText("High").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("link", { name: "Executors" }).first().click();
  await page.getByText("2 at once").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a credential is shown once, rotated and revoked, and a secret says who asks for it", async () => {
  await program.job("default/asks", "true", { task: { shell: "true", secrets: { TOKEN: "api-token" } } });
  const { page, faults, close } = await open("/executors/default");
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "New credential" }).click();
  await dialog.getByLabel("Place or purpose").fill("web1");
  await dialog.getByRole("button", { name: "Create credential" }).click();
  const seed = await dialog.locator(".reveal").textContent();
  expect(seed).toMatch(/^SU/);
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Done" }).click();
  const row = page.locator("tr", { hasText: "web1" });
  await row.getByRole("button", { name: "Rotate" }).click();
  await dialog.getByRole("button", { name: "1h" }).click();
  await dialog.getByRole("button", { name: "Rotate" }).click();
  expect(await dialog.locator(".reveal").textContent()).not.toBe(seed);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByText(/replaces/).waitFor();
  await row.last().getByRole("button", { name: "Revoke" }).click();
  await dialog.getByRole("button", { name: "Revoke" }).click();
  await expect.poll(() => row.count()).toBe(1);
  expect(await page.content()).not.toContain(seed);

  await page.getByRole("button", { name: "New secret…" }).click();
  await dialog.getByLabel("Name").fill("api-token");
  await dialog.getByLabel("Value").fill("s3cret");
  await dialog.getByRole("button", { name: "Save secret" }).click();
  const secret = page.locator("tr", { hasText: "api-token" });
  await secret.getByRole("link", { name: "default/asks" }).waitFor();
  await secret.getByRole("button", { name: "Delete: api-token" }).click();
  await dialog.getByText("1 job uses it.").waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByText("No secrets").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a group is paused for a while, which its jobs say, and it is resumed by undoing", async () => {
  await program.api("PUT", "/jobs/default/hourly", {
    job: "default/hourly",
    schedule: { cron: "0 * * * *" },
    task: { shell: "true" },
  });
  const { page, faults, close } = await open("/executors/default");
  await page.getByRole("button", { name: "Pause group" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 fire is due within the next hour.").waitFor();
  await dialog.getByLabel("Until").selectOption("in 4 hours");
  await dialog.getByRole("textbox").fill("the database moves");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Pause group" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByText(/Group default has been paused since .*, until .*the database moves/).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.goto(`${program.url}/jobs/default/hourly`);
  await page.getByText(/Group default has been paused since .*, until .*the database moves/).waitFor();
  const { next_fires: fires } = await program.api<{ next_fires: { fire_time: string }[] }>(
    "GET",
    "/jobs/default/hourly",
  );
  expect(Date.parse(fires[0]?.fire_time ?? "") - Date.now()).toBeGreaterThan(3 * 3600e3);
  await page.goto(`${program.url}/executors`);
  await page
    .locator(".card", { hasText: "default" })
    .getByText(/Paused until/)
    .waitFor();
  await page.getByRole("link", { name: "default", exact: true }).click();
  await page.getByRole("button", { name: "Resume group" }).click();
  await page.getByText("Group default is resumed").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Group default is paused", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Resume group" }).click();
  await page.getByRole("button", { name: "Pause group" }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a group says how many of its runs wait, since when and why", async () => {
  await program.job("lonely/waits", "true");
  for (const _ of [1, 2]) await program.api("POST", "/jobs/lonely/waits/run", {});
  const { page, faults, close } = await open("/executors/lonely");
  await page.getByText(/2 runs wait for an executor, the oldest since/).waitFor();
  const why = page.locator("li", { hasText: "group lonely has no executor" });
  await expect.poll(() => why.count()).toBe(2);
  expect(await axe(page)).toEqual([]);
  await page.getByRole("link", { name: "All waiting runs" }).click();
  await page.waitForURL(/\/runs\?.*status=pending/);
  await page.goto(`${program.url}/executors`);
  await page.locator(".card", { hasText: "lonely" }).getByText("Pending 2").waitFor();
  expect(faults).toEqual([]);
  await close();
});
