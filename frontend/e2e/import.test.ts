import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { Executor } from "./executor.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

/**
 * A dump of XXL-JOB with one executor and so many jobs: every seventh is a shell script, the last but one is
 * Groovy, and the last one lacks its handler.
 */
function dump(jobs: number): string {
  const rows = Array.from({ length: jobs }, (_, i) => {
    const id = i + 1;
    const [glue, handler, source] =
      id === jobs
        ? ["BEAN", "", ""]
        : id === jobs - 1
          ? ["GLUE_GROOVY", "", "package x;"]
          : id % 7 === 0
            ? ["GLUE_SHELL", "", "echo it\\'s $1"]
            : ["BEAN", `syncHandler${id}`, ""];
    return `(${id},1,'任务 ${id}','CRON','0 ${id} 2 * * ?','FIRE_ONCE_NOW','ROUND','${handler}','','SERIAL_EXECUTION',60,1,'${glue}','${source}','${id === 1 ? "2" : ""}',1)`;
  });
  return `INSERT INTO \`xxl_job_group\` (id, app_name) VALUES (1,'billing');
INSERT INTO \`xxl_job_info\` (id, job_group, job_desc, schedule_type, schedule_conf, misfire_strategy, executor_route_strategy,
 executor_handler, executor_param, executor_block_strategy, executor_timeout, executor_fail_retry_count, glue_type, glue_source,
 child_jobid, trigger_status) VALUES
${rows.join(",\n")};`;
}

it("a dump of XXL-JOB with 50 jobs is imported after a look, and what others made is left alone", async () => {
  await program.job("billing/sync-handler3", "echo ours");
  const { page, faults, close } = await open("/jobs");
  await page.getByRole("button", { name: "Import" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.locator("input[type=file]").setInputFiles({
    name: "dump.sql",
    mimeType: "application/sql",
    buffer: Buffer.from(dump(50)),
  });
  const text = drawer.getByLabel("The dump of the tables");
  await text.waitFor();
  await expect.poll(() => text.evaluate((el) => el === document.activeElement)).toBe(true);
  await drawer.getByLabel("Time zone").fill("Asia/Shanghai");
  await drawer.getByRole("button", { name: "Check" }).click();
  await drawer.getByText("48 to create, 1 in conflict and 1 skipped. Nothing has been saved yet.").waitFor();
  const row = (title: string) => drawer.locator("tr", { has: page.getByText(title, { exact: true }) });
  const table = drawer.getByRole("region", { name: "Result" });
  await expect.poll(() => table.evaluate((el) => el === document.activeElement)).toBe(true);
  await row("任务 3").getByText("Conflict").waitFor();
  await row("任务 49").getByText("is Java code from XXL-JOB").waitFor();
  await row("任务 50").getByText("names no handler").waitFor();
  expect(await axe(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Save 48 jobs" }).click();
  await drawer.getByText("48 saved").waitFor();
  await drawer.getByRole("button", { name: "Close" }).last().click();

  const definition = async (job: string) =>
    (await program.api<{ definition: Record<string, unknown> }>("GET", `/jobs/billing/${job}`)).definition;
  expect(await definition("sync-handler1")).toMatchObject({
    title: "任务 1",
    schedule: { cron: "0 1 2 * * ?", zone: "Asia/Shanghai" },
    misfire: { policy: "fire_once", grace: "5s" },
    overlap: { policy: "queue" },
    route: "round_robin",
    children: [{ job: "billing/sync-handler2", on: "success" }],
    note: "XXL-JOB 1",
  });
  expect(await definition("job-7")).toMatchObject({ task: { script: { language: "shell" } } });
  expect(await definition("sync-handler3")).toMatchObject({ task: { shell: "echo ours" }, version: 1 });

  // The next import finds its own unchanged, and overwrites what is not if that is asked for.
  await page.getByRole("button", { name: "Import" }).click();
  await drawer.getByRole("button", { name: "XXL-JOB" }).click();
  await drawer.getByLabel("The dump of the tables").fill(dump(50));
  await drawer.getByLabel("Time zone").fill("Asia/Shanghai");
  await drawer.getByRole("button", { name: "Check" }).click();
  await drawer.getByText("48 unchanged, 1 in conflict and 1 skipped").waitFor();
  await drawer.getByLabel("Overwrite 1 job that was created or edited here").check();
  await drawer.getByRole("button", { name: "Save 1 job" }).click();
  await drawer.getByText("1 saved").waitFor();
  expect(await definition("sync-handler3")).toMatchObject({ task: { handler: "syncHandler3" }, version: 2 });
  expect(faults).toEqual([]);
  await close();
});

it("the executors' page shows which groups are still with the old admin, until an executor attaches", async () => {
  const { page, faults, close } = await open("/executors");
  const card = page.locator("section", { has: page.getByRole("heading", { name: "Move from XXL-JOB" }) });
  const row = card.getByRole("row", { name: /^billing/ });
  await row.getByText("No executor is online: still with XXL-JOB's admin, or stopped").waitFor();
  expect(await row.getByRole("cell").nth(1).textContent()).toBe("49");
  expect(await axe(page)).toEqual([]);

  await program.api("PUT", "/groups/billing/pause", { paused: true });
  const executor = new Executor();
  try {
    await executor.start(program, "billing", "legacy");
    await row.getByText("Executors attached, jobs paused in Carillon").waitFor();
    expect(await row.getByRole("cell").nth(1).textContent()).toBe("49, 49 paused");
    await program.api("PUT", "/groups/billing/pause", { paused: false });
    await card.waitFor({ state: "detached" });
    expect(faults).toEqual([]);
  } finally {
    await executor.kill();
  }
  await close();
});
