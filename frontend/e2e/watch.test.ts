import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

/** Sends a ping as curl would, to the path of a URL at the program, and returns the status of the answer. */
const ping = async (url: string, method = "POST", body?: string) =>
  (await fetch(program.url + new URL(url).pathname + new URL(url).search, { method, body })).status;

it("a job that runs elsewhere is created by the form, and its first ping turns its page green", async () => {
  const { page, faults, close } = await open("/jobs/new");
  await page.getByLabel("Name", { exact: true }).fill("web1-backup");
  await page.getByRole("button", { name: /^Runs elsewhere/ }).click();
  expect(await page.getByRole("button", { name: "Test run" }).count()).toBe(0);
  await page.getByLabel("Grace", { exact: true }).fill("1s");
  await page.getByLabel("Early", { exact: true }).fill("5m");
  await page.getByText("task.watch.grace").or(page.locator(".ferr")).first().waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByLabel("Grace", { exact: true }).fill("30m");
  await page.getByLabel("GET", { exact: true }).uncheck();
  await page.getByRole("button", { name: "Create job" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create job" }).click();
  await page.getByRole("heading", { name: "web1-backup" }).waitFor();
  const { definition } = await program.api<{ definition: { task: object } }>(
    "GET",
    "/jobs/default/web1-backup",
  );
  expect(definition.task).toEqual({ watch: { grace: "30m", early: "5m", methods: ["HEAD", "POST"] } });

  const state = page.locator(".pings .note[role=status]");
  await state.getByText("Waiting for the first ping.").waitFor();
  expect(await page.getByRole("button", { name: "Run now" }).count()).toBe(0);
  await page.getByRole("button", { name: "New token" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  const url = (await dialog.locator(".reveal").textContent()) ?? "";
  expect(url).toMatch(/\/ping\/carillon_ping_/);
  for (const [way, line] of [
    ["curl", `COMMAND; curl -fsS -m 10 --retry 3 -o /dev/null -X POST ${url}/$?`],
    ["crontab", "carillon watch default/web1-backup -c 'COMMAND'"],
  ] as const) {
    await dialog.getByRole("button", { name: way, exact: true }).click();
    expect(await dialog.locator("pre").textContent()).toContain(line);
  }
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Done" }).click();
  expect(await page.content()).not.toContain(url); // it was shown once

  expect(await ping(url, "GET")).toBe(405);
  expect(await ping(`${url}/start?host=web1`)).toBe(200);
  await state.getByText("Running on web1 since").waitFor();
  expect(await ping(`${url}/0?host=web1`, "POST", "saved 12 files")).toBe(200);
  await state.getByText("Succeeded: the last run ended").waitFor();
  expect(await page.locator(".pings .note.good").count()).toBe(1);
  await page.getByText("1 ping was refused: method not allowed.").waitFor();
  const row = page.getByRole("region", { name: "Ping tokens" }).locator("tbody tr");
  await row.getByText("web1").waitFor();
  expect(await axe(page)).toEqual([]);

  await state.getByRole("link", { name: "Open run" }).click();
  await page.locator(".details").getByText("reported by a ping from web1").waitFor();
  await page.locator(".ll").getByText("saved 12 files").waitFor();
  expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(0);
  expect(await axe(page)).toEqual([]);

  await page.goto(`${program.url}/runs`);
  await page.locator("table.runs td[data-col=executor]").getByText("web1").waitFor();
  await page.goto(`${program.url}/jobs`);
  await page.getByText("Runs elsewhere").waitFor();
  expect(await page.getByRole("button", { name: "Run now" }).count()).toBe(0);
  expect(faults).toEqual([]);
  await close();
});

it("tokens are rotated and deleted after a confirmation, in Chinese too", async () => {
  await program.api("PUT", "/jobs/default/report", {
    job: "default/report",
    schedule: {},
    task: { watch: "10m" },
  });
  const { url: first } = await program.api<{ url: string }>("POST", "/jobs/default/report/ping-tokens", {});
  const { page, faults, close } = await open("/jobs/default/report", { lang: "zh", theme: "dark" });
  await page.getByText("正在等待第一次 ping。").waitFor();
  await page.getByRole("button", { name: "轮换" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("其他令牌 7 天后失效").waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "轮换" }).click();
  const second = dialog.locator(".reveal");
  await second.waitFor();
  const url = (await second.textContent()) ?? "";
  await dialog.getByRole("button", { name: "完成" }).click();
  const rows = page.getByRole("region", { name: "Ping 令牌" }).locator("tbody tr");
  await expect.poll(() => rows.count()).toBe(2);
  expect(await ping(first)).toBe(200); // for 7 more days
  await page.getByText("成功：最近一次运行").waitFor();
  await rows.filter({ hasNotText: "不会失效" }).getByRole("button").click();
  await dialog.getByRole("button", { name: "删除" }).click();
  await expect.poll(() => rows.count()).toBe(1);
  await expect.poll(() => ping(first)).toBe(404);
  expect(await ping(`${url}/3`)).toBe(200);
  await page.getByText("失败：最近一次运行").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
