import { userInfo } from "node:os";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { unfold } from "./fold.ts";
import { stage } from "./stage.ts";

const { program, open } = stage((p) => p.job("default/notify", "echo told"));

it("a script is tried out before it is saved, and every policy is chosen in the form", async () => {
  const { page, faults, close } = await open("/jobs/new");
  await page.getByLabel("Name", { exact: true }).fill("totals");
  await page.getByRole("button", { name: /^Script/ }).click();
  await page.getByRole("button", { name: "Starlark" }).click();
  await page.locator(".codebox .cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText('print("adding up", params); result = params["rows"] * 2');
  await page.getByLabel("Parameters. Press Escape, then Tab, to leave the editor").click();
  await page.keyboard.insertText('{"rows": 21}');

  await page.getByRole("button", { name: "Test run" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.locator(".ll").getByText("adding up").waitFor();
  await drawer.getByText("Succeeded").waitFor();
  await drawer.locator(".jsonbox").getByText("42").waitFor();
  expect(await axe(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Close" }).click();

  await unfold(page, "Environment and secrets");
  await page.getByRole("button", { name: "Add a secret" }).click();
  await page.getByLabel("Variable").fill("TOKEN");
  await page.getByLabel("Secret of the group").fill("reports-api");
  await unfold(page, "Where to run");
  await page.getByLabel("Which executor").selectOption("round_robin");
  await page.getByLabel("Only with labels").fill("zone=eu");
  await unfold(page, "Overlap and missed fires");
  await page.getByLabel("If a run is still in progress").selectOption("queue");
  await page.getByLabel("Queue length").fill("7");
  await page.getByLabel("Overlap key").fill("${params.customer}");
  await page.getByLabel("Concurrent runs of all keys").fill("50");
  await unfold(page, "Limits and retries");
  await page.getByLabel("If it fails, try again").fill("3");
  await page.getByLabel("First delay").fill("2 minutes");
  await page.getByText("Enter a duration, such as 90s, 5m or 2h").waitFor();
  await page.getByLabel("First delay").fill("2m");
  await page.getByLabel("Lost", { exact: true }).uncheck();
  await page.getByLabel("One attempt").fill("10m");
  await page.getByLabel("Start within").fill("1h");
  await unfold(page, "Child jobs");
  await page.getByRole("button", { name: "Add a child job" }).click();
  await page.getByLabel("Condition").selectOption("end");
  await page.getByRole("combobox", { name: "Child job" }).fill("default/notify");
  await page.getByLabel("with the result").check();
  await page
    .locator(".policies")
    .getByText(
      "For each value of ${params.customer}: One run at a time; up to 7 wait, then the newest is skipped. Up to 50 runs in all.",
    )
    .waitFor();
  expect(await axe(page)).toEqual([]);

  await page.getByRole("button", { name: "Create job" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create job" }).click();
  await page.getByRole("heading", { name: "totals" }).waitFor();
  const { definition } = await program.api<{ definition: Record<string, unknown> }>(
    "GET",
    "/jobs/default/totals",
  );
  expect(definition).toMatchObject({
    route: "round_robin",
    labels: { zone: "eu" },
    overlap: { policy: "queue", limit: 1, queue: 7, key: "${params.customer}", total: 50 },
    retry: { limit: 3, delay: "2m", on: ["failed", "timed_out"] },
    timeout: "10m",
    start_within: "1h",
    children: [{ job: "default/notify", on: "end", pass_result: true }],
    task: {
      script: { language: "starlark", source: 'print("adding up", params); result = params["rows"] * 2' },
      secrets: { TOKEN: "reports-api" },
    },
    params: { rows: 21 },
  });
  // Of the trial only its history is left.
  const { items } = await program.api<{ items: unknown[] }>("GET", "/jobs?q=draft");
  expect(items).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("leaves no draft behind, however a test is left", async () => {
  const { page, faults, close } = await open("/jobs");
  const drafts = async () => (await program.api<{ items: unknown[] }>("GET", "/jobs?q=draft")).items.length;
  for (const leave of [() => page.goBack(), () => page.reload()]) {
    await page.goto(`${program.url}/jobs`);
    await page.goto(`${program.url}/jobs/default/notify/edit`);
    await page.getByRole("button", { name: "Test run" }).click();
    await expect.poll(drafts).toBe(1);
    await leave();
    await expect.poll(drafts).toBe(0);
  }
  expect(faults).toEqual([]);
  await close();
});

it("of two people who edit a job, the second sees what both did, and merges it", async () => {
  await program.job("default/shared", "echo one", { schedule: { cron: "0 2 * * *" }, description: "old" });
  const [mine, theirs] = await Promise.all([
    open("/jobs/default/shared/edit"),
    open("/jobs/default/shared/edit"),
  ]);
  await mine.page.getByLabel("Description").fill("mine");
  await unfold(mine.page, "Limits and retries");
  await mine.page.getByLabel("One attempt").fill("10m");
  // The other is faster.
  await theirs.page.getByLabel("Description").fill("theirs");
  await theirs.page.locator(".cron input").nth(1).fill("4");
  await theirs.page.keyboard.press("Control+s");
  await theirs.page.getByRole("dialog").getByText("The next fire moves from").waitFor();
  expect(await axe(theirs.page)).toEqual([]);
  await theirs.page.getByRole("dialog").getByRole("button", { name: "Save as v2" }).click();
  await theirs.page.getByRole("heading", { name: "shared" }).waitFor();

  await mine.page.keyboard.press("Control+s");
  const dialog = mine.page.getByRole("dialog");
  await dialog.getByRole("heading", { name: new RegExp(`^${userInfo().username} saved v2 .+`) }).waitFor();
  const field = (name: string) => dialog.getByRole("listitem").filter({ hasText: name });
  await field("description").getByText("changed by both").waitFor();
  await field("schedule.cron").getByText(`changed by ${userInfo().username}`).waitFor();
  await field("timeout").getByText("changed by you").waitFor();
  expect(await dialog.getByRole("button", { name: "Merge" }).isDisabled()).toBe(true);
  await dialog.getByText("1 field is still to be chosen").waitFor();
  expect(await axe(mine.page)).toEqual([]);
  // Whoever only looks loses nothing.
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect(await mine.page.getByLabel("Description").inputValue()).toBe("mine");

  await mine.page.keyboard.press("Control+s");
  await field("description").getByLabel("Yours").check();
  await dialog.getByRole("button", { name: "Merge" }).click();
  await dialog.locator(".changes").getByText("mine").waitFor();
  await dialog.getByRole("button", { name: "Side by side" }).click();
  await dialog.locator(".cm-host.diff").waitFor();
  expect((await dialog.boundingBox())?.width).toBeGreaterThan(1200);
  await dialog.locator(".cm-host").getByText("timeout").waitFor();
  await dialog.getByLabel("Note").press("Enter");
  await mine.page.getByRole("heading", { name: "shared" }).waitFor();
  const { definition } = await program.api<{ definition: unknown }>("GET", "/jobs/default/shared");
  expect(definition).toMatchObject({
    version: 3,
    description: "mine",
    timeout: "10m",
    schedule: { cron: "0 4 * * *" },
    task: { shell: "echo one" },
  });
  expect([...mine.faults, ...theirs.faults]).toEqual([]);
  await Promise.all([mine.close(), theirs.close()]);
});

it("a job is edited as YAML, whose comments stay, and whose wrong lines are said", async () => {
  await program.job("default/written", "echo one", { schedule: { cron: "0 2 * * *" } });
  const { page, faults, close } = await open("/jobs/default/written/edit");
  const yaml = page.getByRole("textbox", { name: "YAML" }); // not the form's, which is there until the text is
  const write = async (text: string) => {
    await yaml.click();
    await page.keyboard.press("Control+a");
    await yaml.evaluate((content, pasted) => {
      const data = new DataTransfer();
      data.setData("text/plain", pasted);
      content.dispatchEvent(
        new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
      );
    }, text);
  };
  const form = page.getByRole("button", { name: "Form", exact: true });
  await page.getByRole("button", { name: "YAML", exact: true }).click();
  await write("job: default/written\ntask: [");
  await page.getByText(/^Line 2: /).waitFor();
  expect(await form.isDisabled()).toBe(true);
  await write("job: default/written\ntask:\n  command: ls\n");
  await page.getByText("Line 3: task.command must be a list.").waitFor();
  await write(
    "job: default/written\n# Before the banks close\nschedule:\n  cron: 0 2 * * *\ntask:\n  shell: echo one\ntimeout: 10x\n",
  );
  await page.keyboard.press("Control+s");
  await page.locator(".errors").getByRole("button", { name: "timeout" }).waitFor();
  await page.locator(".cm-badline").getByText("timeout").waitFor();
  expect(await axe(page)).toEqual([]);

  // What is wrong is in sight, though most jobs do without the field.
  await form.click();
  const timeout = page.getByLabel("One attempt");
  await timeout.waitFor();
  await page.locator("summary", { hasText: "Limits and retries" }).click();
  await page.locator(".errors").getByRole("button", { name: "timeout" }).click();
  expect(await timeout.evaluate((field) => field === document.activeElement)).toBe(true);
  await timeout.fill("10m");
  await page.locator(".errors").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "YAML", exact: true }).click();
  await yaml.getByText("# Before the banks close").waitFor();
  await yaml.getByText("timeout: 10m").waitFor();

  // What is wrong with a field is said when it is left.
  await form.click();
  await unfold(page, "Owner and tags");
  await unfold(page, "Overlap and missed fires");
  await page.getByLabel("Owner").fill("somebody");
  await page.getByLabel("Grace").fill("400h");
  await page.getByLabel("Owner").focus();
  await page.locator(".ferr").first().waitFor();
  expect(await page.locator(".errors").count()).toBe(0);
  // Saved all the same, it is refused, and the field has the focus.
  const grace = page.getByLabel("Grace");
  await page.keyboard.press("Control+s");
  await page.locator(".errors").getByRole("button", { name: "misfire.grace" }).waitFor();
  await expect.poll(() => grace.evaluate((field) => field === document.activeElement)).toBe(true);

  await program.job("default/written", "echo two");
  await grace.fill("20s");
  await page.getByLabel("Owner").focus();
  await page.getByText("Somebody has saved this job since you opened it.").waitFor();
  expect(faults).toEqual([]);
  await close();
});
