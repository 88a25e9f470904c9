import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

/** What happened to runs, of which the audit log keeps those that somebody did. */
interface Entries {
  items: { action: string; data?: { reason?: string } }[];
}

it("a run that is cancelled is told to end, and the record says who did it and why", async () => {
  await program.job(
    "default/stubborn",
    "trap 'echo ending; exit 0' TERM; echo working; while :; do sleep 0.1; done",
    {
      kill_grace: "2s",
    },
  );
  const { run_id } = await program.api<{ run_id: string }>("POST", "/jobs/default/stubborn/run", {});
  const { page, faults, close } = await open(`/runs/${run_id}`);
  await page.locator(".ll").getByText("working").waitFor();
  await page.getByRole("button", { name: "Cancel run" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("too much at month end");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel run" }).click();
  await page.locator(".runhead").getByText("Cancelled").waitFor();
  await page.locator(".ll").getByText("ending").waitFor();
  await page.getByText("too much at month end").first().waitFor();
  const { items } = await program.api<Entries>("GET", "/audit-log?limit=20");
  expect(items.filter((e) => JSON.stringify(e).includes("too much at month end"))).toHaveLength(1);
  expect(faults).toEqual([]);
  await close();
});

it("a run that is tried again shows each attempt, what came between, and the log of the one that is chosen", async () => {
  await program.job(
    "default/third-time",
    'echo "this is attempt $CARILLON_ATTEMPT"; [ "$CARILLON_ATTEMPT" -ge 3 ]',
    {
      retry: { limit: 3, delay: "1s" },
    },
  );
  const id = await program.run("default/third-time");
  const { page, faults, close } = await open(`/runs/${id}`);
  await page.locator(".runhead").getByText("Attempt 3 succeeded").waitFor();
  await page.locator(".ll").getByText("this is attempt 3").waitFor();
  await page
    .getByRole("group", { name: /^Attempt/ })
    .getByRole("button", { name: "Attempt 1" })
    .click();
  await page.locator(".ll").getByText("this is attempt 1").waitFor();
  expect(await page.locator(".ll").getByText("this is attempt 3").count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("of eight pieces the one that fails makes the run fail, and is the one that is shown", async () => {
  await program.job(
    "default/eight",
    'echo "piece $CARILLON_BROADCAST_INDEX of $CARILLON_BROADCAST_TOTAL"; [ "$CARILLON_BROADCAST_INDEX" != 5 ]',
    { map: { pieces: 8 } },
  );
  const id = await program.run("default/eight");
  const { page, faults, close } = await open(`/runs/${id}`);
  await page.locator(".runhead").getByText("Failed").waitFor();
  await expect.poll(() => page.locator(".pieces .piece").count()).toBe(8);
  await page.getByRole("button", { name: "Piece 5: Failed", pressed: true }).waitFor();
  await page.locator(".ll").getByText("piece 5 of 8").waitFor();
  await page.getByRole("button", { name: "Piece 2: Succeeded" }).click();
  await page.locator(".ll").getByText("piece 2 of 8").waitFor();
  await page.getByRole("link", { name: "Lines of all pieces, by time" }).click();
  await page.waitForURL(/\/logs\?run=/);
  for (let i = 0; i < 8; i++) await page.getByRole("link", { name: `piece ${i} of 8` }).waitFor();
  await page.getByRole("link", { name: "piece 7 of 8" }).getByText("Piece 7", { exact: true }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a run whose group has no executor says so, and leads to the group", async () => {
  await program.job("nobody/there", "true");
  const { run_id } = await program.api<{ run_id: string }>("POST", "/jobs/nobody/there/run", {});
  const { page, faults, close } = await open(`/runs/${run_id}`);
  await page.getByText("The run has not started").waitFor();
  await page.getByRole("link", { name: "Executors of nobody" }).click();
  await page.waitForURL("**/executors/nobody");
  await page
    .getByText(/carillon executor/)
    .first()
    .waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a job says what its run waits for, and which run had it pause itself", async () => {
  await program.job("nobody/served", "true");
  await program.api("POST", "/jobs/nobody/served/run", {});
  const { page, faults, close } = await open("/jobs/nobody/served");
  const note = page.locator(".note.warn");
  await note.getByText("group nobody has no executor").waitFor();
  expect(await axe(page)).toEqual([]);
  await note.getByRole("link", { name: "nobody" }).click();
  await page.waitForURL("**/executors/nobody");

  await program.job("default/gives-up", "exit 3", { pause_after_failures: 1 });
  const run = await program.run("default/gives-up");
  await page.goto(`${program.url}/jobs/default/gives-up`);
  await note.getByText("1 run in a row ended badly").waitFor();
  await note.getByRole("link", { name: "Show the last failed run" }).click();
  await page.waitForURL(`**/runs/${run}*`);
  expect(faults).toEqual([]);
  await close();
});

it("while everything is paused every page says so, nothing fires, and resuming takes it back", async () => {
  await program.job("default/often", "true", { schedule: { cron: "@every 1s" } });
  const { page, faults, close } = await open("/jobs");
  await page.locator("table.jobs").getByText("often").waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").waitFor();
  await page.keyboard.type("pause every");
  await page.getByRole("option", { name: "Pause everything" }).click();
  await page
    .getByRole("dialog")
    .getByText(/[\d,.]+ fires are due within the next hour/)
    .waitFor();
  await page.getByRole("dialog").getByLabel("Reason").fill("moving house");
  await page.getByRole("dialog").getByRole("button", { name: "Pause everything" }).click();
  const banner = page.locator(".banner").getByText("Everything is paused");
  await banner.waitFor();
  await page.goto(`${program.url}/jobs`);
  await banner.waitFor();
  await page
    .getByText(/moving house/)
    .first()
    .waitFor();

  // Whatever is foretold says so, too.
  const off = page.locator("table.jobs .struck");
  await off.first().waitFor();
  await page.locator(".health").getByText("Everything is paused").waitFor();
  await page.goto(`${program.url}/jobs/default/often`);
  await page.locator(".fires .skipped").getByText("would be skipped").first().waitFor();
  await page.locator("svg .hollow.off").first().waitFor();
  await page.goto(`${program.url}/schedule`);
  await page.locator(".timeline svg .hollow.off").first().waitFor();
  await page.goto(program.url);
  await page.locator(".card", { hasText: "Up next" }).getByText("would be skipped").first().waitFor();
  await page.locator("svg .hatched.off").first().waitFor();
  expect(await axe(page)).toEqual([]);

  // Fires are recorded as skipped, so of the last two none has run.
  const runs = () => program.api<{ items: { status: string }[] }>("GET", "/runs?job=default/often&limit=2");
  await expect.poll(async () => (await runs()).items.map((r) => r.status)).toEqual(["skipped", "skipped"]);
  await page.locator(".banner").getByRole("button", { name: "Resume everything" }).click();
  await page.getByRole("dialog").getByText("stay skipped").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Resume everything" }).click();
  await banner.waitFor({ state: "detached" });
  await expect.poll(async () => (await runs()).items.map((r) => r.status)).toContain("succeeded");
  await page.locator("header").getByRole("button", { name: "Pause everything" }).click();
  await page
    .getByRole("dialog", { name: "Pause everything?" })
    .getByRole("button", { name: "Cancel" })
    .click();
  expect(faults).toEqual([]);
  await close();
});

it("a run after another shows its parent, the run before that, and what follows it", async () => {
  await program.job("default/publish", "echo publish");
  await program.job("default/check", "exit 1", { children: [{ job: "default/publish", on: "end" }] });
  await program.job("default/extract", "echo extract", { children: [{ job: "default/check" }] });
  await program.run("default/extract");
  let found = "";
  await expect
    .poll(async () => {
      const { items } = await program.api<{ items: { run_id: string }[] }>(
        "GET",
        "/runs?job=default/publish&status=succeeded",
      );
      found = items[0]?.run_id ?? "";
      return found;
    })
    .not.toBe("");
  const { page, faults, close } = await open(`/runs/${found}`);
  const rows = page.locator(".lineage li");
  await expect.poll(() => rows.locator("> .trunc").allInnerTexts()).toEqual(["extract", "check", "publish"]);
  await rows.filter({ hasText: "check" }).getByText("Failed").waitFor({ state: "attached" });
  await rows.getByRole("link", { name: "check" }).click();
  await page.getByRole("heading", { level: 1, name: "check" }).waitFor();
  await rows.getByRole("link", { name: "publish" }).waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
