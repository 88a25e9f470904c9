import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { patience } from "./patience.ts";
import { stage } from "./stage.ts";

const { program, open } = stage((p) => p.job("default/first", "echo hello"));

/** A page that hears of nothing asks by itself after 30 s. Here it does not: what it shows it was told. */
const told = { noTimersFrom: 30_000 };

/** Waits until a page asks for nothing for four seconds, longer than one goes without that is told of nothing. */
async function quiet(page: Page): Promise<void> {
  const begun = Date.now();
  let [last, asked] = [begun, ""];
  page.on("request", (r) => {
    const path = new URL(r.url()).pathname;
    // Heartbeats of the program's own executor tell of its group.
    if (path !== "/api/v1/groups" && path !== "/readyz") [last, asked] = [Date.now(), path];
  });
  while (Date.now() - last < 4000) {
    expect(last - begun, `it still asks for ${asked}`).toBeLessThan(patience);
    await page.waitForTimeout(last + 4000 - Date.now());
  }
}

it("what changes is shown when it does, and a quiet page asks for next to nothing", async () => {
  const { page, faults, close } = await open("/jobs", told);
  await page.locator("table.jobs").getByText("first").waitFor();
  await page.locator(".tools").getByText("Live").waitFor();
  await quiet(page);

  await program.job("default/second", "sleep 1; echo done");
  await page.locator("table.jobs").getByText("second").waitFor();
  await program.api("POST", "/jobs/default/second/run", {});
  await page.locator("tr", { hasText: "second" }).getByText("Succeeded").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a tab that is frozen gives its stream back, and catches up when it goes on", async () => {
  const { page, close } = await open("/jobs", told);
  await page.locator("table.jobs").getByText("first").waitFor();
  await quiet(page); // what it asks for before is shown after
  await page.getByRole("button", { name: "Live" }).click();
  await program.job("default/third", "echo hello");
  await page.waitForTimeout(2500);
  expect(await page.locator("table.jobs").getByText("third").count()).toBe(0);
  await page.getByRole("button", { name: "Paused" }).first().click();
  await page.locator("table.jobs").getByText("third").waitFor();
  await close();
});

it("a hidden tab closes its stream, and catches up when it is seen again", async () => {
  const { page, faults, close } = await open("/jobs", told);
  await page.locator("table.jobs").getByText("first").waitFor();
  await page.locator(".tools").getByText("Live").waitFor();
  await quiet(page);
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
  await page.locator("table.jobs").getByText("meanwhile").waitFor();
  expect(faults).toEqual([]);
  await close();
});
