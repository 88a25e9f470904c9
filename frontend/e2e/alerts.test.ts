import { once } from "node:events";
import { createServer } from "node:http";
import { userInfo } from "node:os";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

it("a mail channel is set to report each month", async () => {
  const { page, faults, close } = await open("/alerts/channels");
  await page.getByRole("button", { name: "New channel" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByLabel("Name").fill("month");
  const asked = drawer.getByLabel("Mail a report of each month");
  expect(await asked.count()).toBe(0);
  await drawer.getByLabel("Kind").selectOption("email");
  await drawer.getByLabel("Mail server").fill("mail.example.org");
  await drawer.getByLabel("From", { exact: true }).fill("carillon@example.org");
  await drawer.getByLabel("To, one per line").fill("boss@example.org");
  await asked.check();
  await drawer.getByLabel("Owner").fill("ann");
  expect(await axe(page)).toEqual([]);
  await drawer.getByLabel("Day of the next month").fill("2");
  await drawer.getByRole("button", { name: "Save" }).click();
  await page.locator("tr", { hasText: "boss@example.org" }).waitFor();
  const { definition } = await program.api<{ definition: unknown }>("GET", "/alerts/channels/month");
  expect(definition).toMatchObject({ month_report: { day: 2, owner: "ann" } });
  expect(faults).toEqual([]);
  await close();
});

it("a channel's test shows what the other side answered, and so does its log", async () => {
  const hook = createServer((request, response) => {
    request.resume();
    response.writeHead(503, { "Content-Type": "text/plain" }).end("no tea here");
  }).listen(0, "127.0.0.1");
  await once(hook, "listening");
  const address = hook.address();
  const port = typeof address === "object" ? address?.port : undefined;
  await program.api("PUT", "/alerts/channels/tea", {
    channel: "tea",
    kind: "webhook",
    url: `http://127.0.0.1:${port}/`,
  });
  const { page, faults, close } = await open("/alerts/channels");
  const row = page.locator("tr", { hasText: "tea" });
  await row.getByRole("button", { name: "Test", exact: true }).click();
  const drawer = page.getByRole("dialog", { name: "Messages to tea" });
  await drawer.getByText(/^Answered 503 Service Unavailable after \d/).waitFor();
  await drawer.locator("pre", { hasText: "no tea here" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Close" }).click();
  await row.getByRole("button", { name: "Messages to tea" }).click();
  await page.waitForURL("**/alerts/channels?channel=tea");
  await page.reload();
  await drawer.locator("li.delivery").waitFor();
  expect(await drawer.locator("li.delivery").count()).toBe(1);
  await drawer.getByRole("button", { name: "Close" }).click();
  await row.getByText("The last attempt failed").waitFor();

  await row.getByRole("button", { name: "Test", exact: true }).click();
  await drawer.getByRole("button", { name: "Close" }).click();
  await row.getByText("2 attempts in a row failed").waitFor();
  await row.getByText("answered 503 Service Unavailable: no tea here · No message sent yet").waitFor();
  await page.getByRole("link", { name: "Channels 1" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await program.job("default/fine", "true");
  await program.run("default/fine");
  await page.goto(program.url);
  const item = page.locator(".li", { hasText: "Alerts are not delivered to 1 channel" });
  await item.getByText("tea · 503 Service Unavailable").waitFor();
  await item.getByRole("link").click();
  await row.waitFor();
  hook.close();
  expect(faults).toEqual([]);
  await close();
});

it("a rule is made, a run fails, and somebody looks after what it found", async () => {
  const { page, faults, close } = await open("/alerts/channels");
  await page.getByRole("button", { name: "New channel" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByLabel("Name").fill("ops-hook");
  await drawer.getByLabel("URL").fill("http://127.0.0.1:9/hook");
  await drawer.getByLabel("Quiet hours").check();
  await drawer.getByLabel("Quiet to").fill("06:30");
  await drawer.getByRole("button", { name: "Save" }).click();
  await page.locator("tr", { hasText: "ops-hook" }).getByText("webhook").waitFor();
  const { definition } = await program.api<{ definition: unknown }>("GET", "/alerts/channels/ops-hook");
  expect(definition).toMatchObject({
    quiet_hours: { from: "22:00", to: "06:30", zone: "Asia/Shanghai" },
  });

  await page.getByRole("link", { name: "Rules" }).click();
  await page.getByRole("button", { name: "New rule" }).click();
  await drawer.getByLabel("Name").fill("any-failure");
  await drawer.getByRole("button", { name: "Critical" }).click();
  await drawer.getByLabel("ops-hook").check();
  expect(await axe(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Save" }).click();
  await page
    .locator("tr", { hasText: "any-failure" })
    .getByText("a run failed, timed out, lost, missed")
    .waitFor();

  await program.job("default/broken", "echo no >&2; exit 3");
  await program.run("default/broken");
  await page.getByRole("link", { name: "Incidents", exact: true }).click();
  const row = page.locator("tr", { hasText: "any-failure" });
  await row.getByText("Not delivered yet").waitFor();
  await row.getByText("exit code 3: no", { exact: true }).waitFor();
  await page.locator("tr", { hasText: "any-failure" }).click();
  await drawer.getByRole("link", { name: "Open run" }).waitFor();
  await drawer
    .locator("li.delivery", { hasText: "Not delivered yet" })
    .getByText("next attempt at")
    .waitFor();
  expect(await axe(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Snooze", exact: true }).click();
  await page.getByRole("menuitem", { name: "Snooze for 8h" }).click();
  await drawer.getByText("Snoozed until").waitFor();
  await drawer.getByRole("button", { name: "Close" }).click();
  await page.getByText("No firing alerts").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Snoozed", exact: true }).click();
  await page.locator("tr", { hasText: "any-failure" }).click();
  await drawer.getByRole("button", { name: "End snooze" }).click();
  await drawer.getByRole("button", { name: "Snooze", exact: true }).waitFor();
  await drawer.getByRole("button", { name: "Acknowledge" }).click();
  await drawer.getByText(`Acknowledged by ${userInfo().username}`, { exact: true }).waitFor();
  await drawer.getByRole("button", { name: "1h" }).click();
  await drawer.getByRole("button", { name: "Close" }).click();
  await page.getByRole("link", { name: "Silences" }).click();
  await page.getByRole("button", { name: "End" }).click();
  await page.getByText("No silences").waitFor();
  // The job says who hears of it.
  await page.goto(`${program.url}/jobs/default/broken/edit`);
  await page.locator("summary", { hasText: "any-failure" }).click();
  const rule = page.getByRole("list", { name: "Notifications" }).locator("li", { hasText: "any-failure" });
  await rule.getByText("ops-hook").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("several incidents are acknowledged at once, and the gravest is first", async () => {
  for (const [alert, severity] of [
    ["first-a", "critical"],
    ["then-b", "warning"],
  ]) {
    const jobs = [`default/${alert}`];
    await program.api("PUT", `/alerts/rules/${alert}`, { alert, severity, match: { jobs }, channels: [] });
    await program.job(`default/${alert}`, "exit 3");
    await program.run(`default/${alert}`);
  }
  const { page, faults, close } = await open("/alerts");
  const rows = page.locator("table.incidents tbody tr");
  const of = (rule: string) => rows.filter({ has: page.locator(`[data-col=rule]:text-is("${rule}")`) });
  for (const rule of ["first-a", "then-b"]) await of(rule).getByRole("checkbox").check();
  const severities = await page.locator("[data-col=severity]").allTextContents();
  expect(severities).toEqual([...severities].sort()); // Critical comes before Warning
  expect(await axe(page)).toEqual([]);
  await page
    .getByRole("toolbar", { name: "2 selected" })
    .getByRole("button", { name: "Acknowledge" })
    .click();
  await page.getByText("2 done, 0 failed").waitFor();
  for (const rule of ["first-a", "then-b"]) await of(rule).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Acknowledged", exact: true }).click();
  await of("then-b").getByText("Acknowledged by").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a run that failed is done again with other parameters, and says what it does again", async () => {
  await program.job("default/picky", 'echo "$CARILLON_PARAMS"; echo "$CARILLON_PARAMS" | grep -q good', {
    params: { mood: "bad" },
  });
  const run = await program.run("default/picky");
  const { page, faults, close } = await open(`/runs/${run}`);
  await page.getByRole("button", { name: "Again, with options…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator(".cm-content").getByText("bad").waitFor();
  await dialog.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText('{"mood": "good"}');
  await dialog.locator(".cm-content").getByText("good").waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Run again" }).click();
  await page.locator(".runhead").getByText("Succeeded").waitFor();
  await page.getByText("overridden").waitFor();
  await page.locator(".lineage").getByText("rerun", { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("what somebody says of a run that failed stands beside its status, and can be taken back", async () => {
  await program.job("default/known", "exit 3");
  const run = await program.run("default/known");
  const { page, faults, close } = await open(`/runs/${run}`);
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Mark", exact: true }).click();
  expect(await dialog.getByRole("button", { name: "Mark", exact: true }).isDisabled()).toBe(true);
  await dialog.getByRole("button", { name: "Done by hand" }).click();
  await dialog.getByLabel("What was done, or why").fill("restored from the copy");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Mark", exact: true }).click();
  await page.locator(".details .note").getByText("restored from the copy").waitFor();
  await page.locator(".runhead").getByText("Failed").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "Change" }).click();
  await dialog.getByRole("button", { name: "No mark" }).click();
  await dialog.getByLabel("What was done, or why").fill("it was the wrong copy");
  await dialog.getByRole("button", { name: "Mark", exact: true }).click();
  await page.locator(".details").getByRole("button", { name: "Mark", exact: true }).waitFor();
  const { mark } = await program.api<{ mark?: unknown }>("GET", `/runs/${run}`);
  expect(mark).toBeUndefined();
  expect(faults).toEqual([]);
  await close();
});

it("the ledger has every fire of a job", async () => {
  await program.api("PUT", "/jobs/default/often", {
    job: "default/often",
    schedule: { fixed_rate: "1s" },
    task: { shell: "true" },
  });
  const ran = () => program.api<{ items: unknown[] }>("GET", "/jobs/default/often/ledger?outcome=ran");
  await expect.poll(async () => (await ran()).items.length).toBeGreaterThan(0);
  const { page, faults, close } = await open("/ledger");
  await page.locator("table.ledger").getByText("default/often").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("link", { name: "default/often" }).click();
  await page.locator("tbody").getByText("Ran").first().waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
