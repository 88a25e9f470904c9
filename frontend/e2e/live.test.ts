import { expect, it } from "vitest";
import { stage } from "./stage.ts";

const { program, open } = stage((p) => p.job("default/first", "echo hello"));

it("what changes is shown when it does, and a quiet page asks for next to nothing", async () => {
  const { page, faults, close } = await open("/jobs");
  await page.locator("table.jobs").getByText("first").waitFor();
  await page.locator(".tools").getByText("Live").waitFor();
  await page.waitForTimeout(3000); // what was asked for at the start has come, and been asked for again
  const asked: string[] = [];
  page.on("request", (r) => asked.push(new URL(r.url()).pathname));
  await page.waitForTimeout(4000);
  // Heartbeats of the program's own executor tell of its group.
  expect(asked.filter((path) => path !== "/api/v1/groups" && path !== "/readyz")).toEqual([]);

  await program.job("default/second", "sleep 1; echo done");
  await page.locator("table.jobs").getByText("second").waitFor({ timeout: 4000 });
  await program.api("POST", "/jobs/default/second/run", {});
  await page.locator("tr", { hasText: "second" }).getByText("Succeeded").waitFor({ timeout: 8000 });
  expect(faults).toEqual([]);
  await close();
});

it("a tab that is frozen gives its stream back, and catches up when it goes on", async () => {
  const { page, close } = await open("/jobs");
  await page.locator("table.jobs").getByText("first").waitFor();
  await page.getByRole("button", { name: "Live" }).click();
  await program.job("default/third", "echo hello");
  await page.waitForTimeout(2500);
  expect(await page.locator("table.jobs").getByText("third").count()).toBe(0);
  await page.getByRole("button", { name: "Paused" }).first().click();
  await page.locator("table.jobs").getByText("third").waitFor({ timeout: 4000 });
  await close();
});

it("a hidden tab closes its stream, and catches up when it is seen again", async () => {
  const { page, faults, close } = await open("/jobs");
  await page.locator("table.jobs").getByText("first").waitFor();
  await page.locator(".tools").getByText("Live").waitFor();
  const events = (r: { url(): string }) => new URL(r.url()).pathname === "/api/v1/events";
  const hide = (hidden: boolean) =>
    page.evaluate((is) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => is });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  const closed = page.waitForEvent("requestfailed", { predicate: events });
  await hide(true);
  await closed;
  await program.job("default/meanwhile", "echo hello");
  await page.waitForTimeout(2500);
  expect(await page.locator("table.jobs").getByText("meanwhile").count()).toBe(0);
  const opened = page.waitForRequest(events);
  await hide(false);
  await opened;
  await page.locator("table.jobs").getByText("meanwhile").waitFor({ timeout: 6000 });
  expect(faults).toEqual([]);
  await close();
});
