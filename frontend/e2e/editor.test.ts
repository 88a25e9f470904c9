import { expect, it } from "vitest";
import { axe } from "./browser.ts";
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

  await page.getByRole("button", { name: "Add a secret" }).click();
  await page.getByLabel("Variable").fill("TOKEN");
  await page.getByLabel("Secret of the group").fill("reports-api");
  await page.getByLabel("Which executor").selectOption("round_robin");
  await page.getByLabel("Only with labels").fill("zone=eu");
  await page.getByLabel("If a run is still going").selectOption("queue");
  await page.getByLabel("May wait").fill("7");
  await page.getByLabel("If it fails, try again").fill("3");
  await page.getByLabel("First wait").fill("2 minutes");
  await page.getByText("A length of time, such as 90s, 5m or 2h").waitFor();
  await page.getByLabel("First wait").fill("2m");
  await page.getByLabel("Lost", { exact: true }).uncheck();
  await page.getByLabel("An attempt").fill("10m");
  await page.getByLabel("Begin within").fill("1h");
  await page.getByRole("button", { name: "Add a job" }).click();
  await page.getByLabel("After which end").selectOption("end");
  await page.getByLabel("Job that follows").fill("default/notify");
  await page.getByLabel("with the result").check();
  await page
    .locator(".policies")
    .getByText("One run at a time; up to 7 wait, then the newest is skipped.")
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
    overlap: { policy: "queue", limit: 1, queue: 7 },
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
