import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  await p.job("default/nightly-settlement-of-payments", "echo 'ERROR gateway: timeout' >&2; exit 3", {
    schedule: { cron: "0 3 * * *", zone: "Asia/Shanghai" },
  });
  await p.api("PUT", "/alerts/rules/any", { alert: "any", severity: "critical", channels: [] });
  await p.job("default/endless-count", "sleep 600");
  await p.api("POST", "/jobs/default/endless-count/run", {});
  await p.run("default/nightly-settlement-of-payments"); // the newest
});

const phone = { viewport: { width: 390, height: 844 } };

/** Whether all of something is on the screen, from left to right, and nothing hides it. */
async function isSeen(what: Locator): Promise<boolean> {
  await what.scrollIntoViewIfNeeded();
  return what.evaluate((el, width) => {
    const box = el.getBoundingClientRect();
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return box.x >= 0 && box.right <= width && el.contains(at);
  }, phone.viewport.width);
}

it("on a phone one sees how a job, a run and an alert are without scrolling sideways", async () => {
  for (const [path, row, texts] of [
    ["/jobs", "table.jobs tbody tr", ["nightly-settlement", "Failed", /ago$/, /^in \d/]],
    ["/runs", "table.runs tbody tr", ["nightly-settlement", "Failed", /ERROR gateway: timeout/]],
    [
      "/jobs/default/nightly-settlement-of-payments",
      "table.runs tbody tr",
      ["Failed", /ERROR gateway: timeout/],
    ],
    ["/", "table.inflight tbody tr", ["endless-count", "no usual duration yet", /\d ?s$/]],
    ["/alerts", "table.incidents tbody tr", ["Critical", /nightly-settlement.* failed/, "Firing", /ago$/]],
  ] as const) {
    const { page, faults, close } = await open(path, phone);
    const card = page.locator(row).first();
    for (const text of texts) {
      const what = card.getByText(text).first();
      await what.waitFor();
      expect(await isSeen(what), `${path} ${text}`).toBe(true);
    }
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    expect(await axe(page), path).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  }
});

it("on a phone the banner of a failing job has room for its error beside its links", async () => {
  await program.job("default/breaks", "true");
  await program.run("default/breaks");
  await program.job("default/breaks", "echo 'ERROR bank gateway refused the settlement' >&2; exit 3");
  await program.run("default/breaks");
  const { page, close } = await open("/jobs/default/breaks", phone);
  const banner = page.locator(".incident");
  await banner.getByRole("link").nth(1).waitFor();
  const shares = await banner.evaluate((el) => {
    const text = el.querySelector("p")?.getBoundingClientRect().width ?? 0;
    return text / el.getBoundingClientRect().width;
  });
  expect(shares).toBeGreaterThan(0.75);
  await close();
});
