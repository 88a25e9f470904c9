import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

it("a log is followed until somebody leaves its end, at whatever moment, and again from there", async () => {
  await program.job("default/talks", 'n=0; while :; do n=$((n+1)); echo "line $n"; sleep 0.02; done');
  const { run_id } = await program.api<{ run_id: string }>("POST", "/jobs/default/talks/run", {});
  const { page, faults, close } = await open(`/runs/${run_id}`);
  const log = page.locator(".log");
  const first = log.getByText("line 1", { exact: true });
  await log.getByText("line 100", { exact: true }).waitFor();
  expect(await axe(page)).toEqual([]);
  for (let i = 0; i < 10; i++) {
    await page.getByRole("button", { name: /^Following/ }).waitFor();
    await first.waitFor({ state: "detached" });
    // A scroll is told of with the next frame: here the page is busy until lines are due to be drawn before.
    await log.evaluate(
      (el) =>
        new Promise<void>((done) =>
          requestAnimationFrame(() => {
            el.scrollTo(0, 0);
            for (const until = performance.now() + 130; performance.now() < until; );
            done();
          }),
        ),
    );
    await first.waitFor();
    await page.getByRole("button", { name: /^Paused/ }).waitFor();
    await page.getByRole("button", { name: /^\d+ new lines/ }).waitFor();
    expect(await log.evaluate((el) => el.scrollTop)).toBe(0);
    await page.keyboard.press("Shift+G");
  }
  await program.api("POST", `/runs/${run_id}/cancel`, {});
  await page.locator(".runhead").getByText("Cancelled").waitFor();
  expect(faults).toEqual([]);
  await close();
}, 90_000);
