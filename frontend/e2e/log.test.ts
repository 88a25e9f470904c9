import { expect, it } from "vitest";
import { axe, type Fonts, launch } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open, openIn } = stage();

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
});

it("a log of two hundred thousand lines is opened, searched and paged at any line", async () => {
  await program.job("default/long", 'seq 1 200000 | sed "s/^/line /"', { timeout: "5m" });
  const run = await program.run("default/long");
  const { page, faults, close } = await open(`/runs/${run}#L150000`);
  const log = page.locator(".log");
  await log.getByText("line 150000", { exact: true }).waitFor();
  // More is read in both directions, and the line at which one is stays where it is.
  await log.evaluate((el) => el.scrollBy(0, -90_000));
  await log.locator('.ll[data-seq^="1455"]').first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  await log.getByText("line 1", { exact: true }).waitFor();
  await page.keyboard.press("Shift+G");
  await log.getByText("line 200000", { exact: true }).waitFor();
  await page.keyboard.press("/");
  await page.getByLabel("Find in log").fill("line 19999[13]$");
  await page.getByText("none", { exact: true }).waitFor();
  await page.getByRole("button", { name: "As a regular expression" }).click();
  await page.getByLabel("Find in log").press("Enter");
  await page.getByText("1 / 2").waitFor();
  await log.locator("mark.cur").waitFor();
  await page.getByLabel("Find in log").press("Enter");
  await page.getByText("2 / 2").waitFor();
  expect(await log.locator(".ll").count()).toBeLessThanOrEqual(80);
  // What is not on the page is found by the server.
  await page.getByRole("button", { name: "As a regular expression" }).click();
  await page.getByLabel("Find in log").fill("line 77123");
  await page.getByText("1 match", { exact: true }).waitFor();
  await page.getByLabel("Find in log").press("Enter");
  await log.getByText("line 77123", { exact: true }).waitFor();
  await log.locator("mark.cur").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a long log opens at its end, and says and shows all of its lines of a level", async () => {
  await program.job(
    "default/warns",
    'seq 1 150 | sed "s/^/line /"; sleep 0.3; echo careful >&2; sleep 0.3; seq 151 30000 | sed "s/^/line /"',
  );
  const run = await program.run("default/warns");
  const { page, faults, close } = await open(`/runs/${run}`);
  const log = page.locator(".log");
  await log.getByText("line 30000", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Info 30,000" }).click();
  await log.getByText("careful", { exact: true }).waitFor();
  expect(await log.locator(".ll").count()).toBe(1);
  await page.getByLabel("Find in log").fill("line 1");
  await page.getByText("none", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Info 30,000" }).click();
  await page.getByText("11,111 matches", { exact: true }).waitFor();
  await log.getByText("line 151", { exact: true }).waitFor();
  await page.getByLabel("Find in log").fill("careful");
  await page.getByText("1 match", { exact: true }).waitFor();
  await page.getByLabel("Find in log").press("Enter");
  await log.locator("mark.cur").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("stack traces are folded, JSON is opened, lines are wrapped, and a range is a link", async () => {
  await program.job(
    "default/traces",
    String.raw`echo before; echo '{"id":12345678901234567890,"ok":true}'; echo "java.lang.IllegalStateException: no db"
for i in 1 2 3 4 5 6; do printf '\tat com.acme.Ledger.m%s(Ledger.java:%s)\n' $i $i; done
head -c 900 /dev/zero | tr '\0' y; echo; exit 1`,
  );
  const run = await program.run("default/traces");
  const { page, faults, close } = await open(`/runs/${run}`);
  const log = page.locator(".log");
  await log.getByText("Ledger.java:3").waitFor();
  const fold = log.getByRole("button", { name: "3 more lines of this stack trace" });
  await fold.click();
  await log.getByText("Ledger.java:6").waitFor();
  await log.getByRole("button", { name: "Show as JSON: 2" }).click();
  await log.getByText('"id": 12345678901234567890,').waitFor();
  expect(await axe(page)).toEqual([]);
  const wide = () => log.evaluate((el) => el.scrollWidth > el.clientWidth);
  expect(await wide()).toBe(true);
  await page.keyboard.press("w");
  await page.locator(".log.wrapped").waitFor();
  await expect.poll(wide).toBe(false);
  await log.getByRole("button", { name: "Copy link to this line: 3", exact: true }).click();
  await log
    .getByRole("button", { name: "Copy link to this line: 5", exact: true })
    .click({ modifiers: ["Shift"] });
  await page.waitForURL(/#L3-5$/);
  expect(await log.locator(".ll.linked").count()).toBe(3);
  await page.keyboard.press("Shift+Digit2");
  await page.getByRole("button", { name: /^Info/, pressed: false }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it.each<Fonts>(["all", "no-cjk"])("no wrapped line is wider than the log, with %s fonts", async (fonts) => {
  const words =
    "\u65e5\u672c\u8a9e\u306e\u884c \u4e2d\u6587\u65e5\u5fd7 \ud55c\uad6d\uc5b4 \ud83d\ude80 caf\u00e9 \u2192 \u0645\u0631\u062d\u0628\u0627 ";
  await program.job(
    "default/wide",
    `for i in $(seq 40); do printf '%s' '${words}'; done; echo
for i in $(seq 90); do printf 'a\\t%s' $i; done; echo
printf '{"text":"'; head -c 900 /dev/zero | tr '\\0' y; echo '"}'
head -c 5000 /dev/zero | tr '\\0' z; echo; echo last`,
  );
  const run = await program.run("default/wide");
  const browser = await launch(fonts);
  for (const width of [1440, 390]) {
    const { page, faults, close } = await openIn(browser, `/runs/${run}#L1`, {
      viewport: { width, height: 900 },
    });
    const log = page.locator(".log");
    await log.locator('.ll[data-seq="1"]').first().waitFor();
    await page.keyboard.press("w");
    await page.locator(".log.wrapped").waitFor();
    const tooWide = () =>
      log.evaluate((el) => [
        el.scrollWidth - el.clientWidth,
        ...[...el.querySelectorAll(".ll > .m")].map((m) => Math.max(0, m.scrollWidth - m.clientWidth)),
      ]);
    const fits = async () => expect.poll(async () => Math.max(...(await tooWide()))).toBe(0);
    const filled = () =>
      expect
        .poll(() =>
          log.evaluate((el) => {
            const [m] = el.querySelectorAll('.ll[data-seq="1"] > .m');
            const range = document.createRange();
            range.selectNodeContents(m as Element);
            return range.getBoundingClientRect().width / (m as Element).clientWidth;
          }),
        )
        .toBeGreaterThan(0.8);
    await fits();
    await filled();
    await log.getByRole("button", { name: "Show as JSON: 3" }).click();
    await fits();
    // A browser that shows letters larger, or another font, is measured again.
    await log.evaluate((el) => {
      el.style.fontSize = "15px";
    });
    await expect.poll(() => log.evaluate((el) => getComputedStyle(el).fontSize)).toBe("15px");
    await fits();
    await filled();
    await page.keyboard.press("m");
    await page.keyboard.press("m");
    await page.locator(".log.time-none").waitFor();
    await fits();
    await filled();
    expect(faults).toEqual([]);
    await close();
  }
  await browser.close();
});

it("a run is compared with the last that succeeded, and saved with all that is known of it", async () => {
  await program.job("default/varies", 'echo "attempt"; [ "$(date +%s%N | tail -c 2)" = x ]', {});
  const bad = await program.run("default/varies");
  await program.job("default/varies", "echo fine", {});
  const good = await program.run("default/varies");
  const { page, faults, close } = await open(`/runs/${bad}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  await page.getByRole("menuitem", { name: "Compare with…" }).click();
  await page.waitForURL(`**/runs/${bad}/compare`);
  await page.getByRole("row", { name: /Status Failed Succeeded/ }).waitFor();
  await page.getByRole("row", { name: /Definition v1 v2/ }).waitFor();
  await page.getByRole("table").getByRole("link").nth(1).click();
  await page.waitForURL(`**/runs/${good}`);
  await page.goBack();
  await page.waitForURL(`**/runs/${bad}/compare`);
  await page.goBack();
  await page.waitForURL(`**/runs/${bad}`);
  await page.getByRole("button", { name: "More", exact: true }).click();
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: "Download bundle" }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`default-varies-${bad}.zip`);
  await page.keyboard.press("]");
  await page.waitForURL(`**/runs/${good}`);
  expect(faults).toEqual([]);
  await close();
});
