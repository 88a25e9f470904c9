import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  await p.job("default/good", "true", { schedule: { cron: "0 3 * * *", zone: "Europe/Berlin" } });
  await p.run("default/good");
});

const day = 24 * 3600e3;
const picker = (page: Page, text: string | RegExp) => page.getByRole("button", { name: text });
const panel = (page: Page) => page.getByRole("dialog", { name: /Range|时间范围/ });

/** The first instant of today in Shanghai, where the browsers of tests are. */
const midnight = (now: number) => Math.floor((now + 8 * 3600e3) / day) * day - 8 * 3600e3;

/** Waits for a request with a range, and returns it. */
async function asked(page: Page, path: string, doing: () => Promise<unknown>): Promise<[number, number]> {
  const [request] = await Promise.all([
    page.waitForRequest((r) => {
      const url = new URL(r.url());
      return url.pathname === `/api/v1${path}` && url.searchParams.get("parts") === "96";
    }),
    doing(),
  ]);
  const { searchParams } = new URL(request.url());
  return [Date.parse(searchParams.get("from") ?? ""), Date.parse(searchParams.get("to") ?? "")];
}

it("a day is chosen by its name, which the address has, and other pages begin with it", async () => {
  const { page, faults, close } = await open("/");
  await picker(page, "Range: 24h").click();
  await panel(page)
    .getByText(/History is kept since/)
    .waitFor();
  expect(await axe(page)).toEqual([]);
  const now = Date.now();
  const [from, to] = await asked(page, "/runs/counts", () =>
    panel(page).getByRole("button", { name: "Yesterday" }).click(),
  );
  expect([from, to]).toEqual([midnight(now) - day, midnight(now)]);
  await page.waitForURL("**/?range=yesterday");
  await picker(page, "Range: Yesterday").waitFor();
  expect(await panel(page).count()).toBe(0);
  await page.goto(`${program.url}/runs`);
  await picker(page, "Range: Yesterday").waitFor();
  await page.goto(`${program.url}/ledger?range=today`);
  await picker(page, "Range: Today").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("days are chosen by the keyboard, in any zone, and Escape leaves all as it was", async () => {
  const { page, faults, close } = await open("/runs", { locale: "en-GB" });
  await page.locator("table.runs tbody tr").first().waitFor();
  await page.keyboard.press("D");
  await expect
    .poll(() =>
      panel(page)
        .getByRole("button", { name: "24h" })
        .evaluate((b) => b === document.activeElement),
    )
    .toBe(true);
  await page.keyboard.press("Escape");
  // Letters do nothing while a dialog is in the page, also one that is hidden already.
  await expect.poll(() => page.locator(".rangepanel").count()).toBe(0);
  expect(new URL(page.url()).search).toBe("");

  await page.keyboard.press("D");
  await panel(page).getByLabel("Time zone").selectOption("UTC");
  expect(await panel(page).getByRole("columnheader").first().getAttribute("aria-label")).toBe("Monday");
  // The month before that of the range's end, which may have begun already where the reader is.
  const [year = 0, shown = 0] = (await panel(page).getByLabel("To", { exact: true }).inputValue())
    .split("-")
    .map(Number);
  const name = new Date(Date.UTC(year, shown - 2, 1)).toISOString().slice(0, 8);
  await panel(page).locator("[role=gridcell][tabindex='0']").focus();
  for (const key of [
    "PageUp",
    "Home",
    "ArrowDown",
    "ArrowRight",
    "ArrowRight",
    "ArrowUp",
    "Enter",
    "ArrowRight",
    "Enter",
  ])
    await page.keyboard.press(key);
  await expect
    .poll(() => panel(page).getByLabel("From", { exact: true }).inputValue())
    .toBe(`${name}03 00:00`);
  expect(await panel(page).getByLabel("To", { exact: true }).inputValue()).toBe(`${name}05 00:00`);
  await panel(page).getByLabel("To", { exact: true }).fill(`${name}03 00:00`);
  await panel(page).getByText("The end must be after the beginning.").waitFor();
  expect(await panel(page).getByRole("button", { name: "Apply" }).isDisabled()).toBe(true);
  await panel(page).getByLabel("To", { exact: true }).fill(`${name}03 02:30`);
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.waitForURL(
    (url) =>
      url.searchParams.get("from") === `${name}03T00:00:00.000Z` &&
      url.searchParams.get("to") === `${name}03T02:30:00.000Z` &&
      url.searchParams.get("zone") === "UTC",
  );
  await picker(page, /^Range: 3 .* 00:00 – 3 .* 02:30 UTC$/).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("weeks begin where those of the reader do, and the zone of a job can be chosen", async () => {
  const { page, faults, close } = await open("/jobs/default/good/ledger", { locale: "en-US" });
  await picker(page, "Range: 24h").click();
  expect(await panel(page).getByRole("columnheader").first().getAttribute("aria-label")).toBe("Sunday");
  await panel(page).getByLabel("Time zone").selectOption({ label: "Europe/Berlin · job" });
  await panel(page).getByRole("button", { name: "This week" }).click();
  await page.waitForURL("**/ledger?range=week&zone=Europe/Berlin");
  await picker(page, /^Range: This week UTC\+/).waitFor();
  expect(faults).toEqual([]);
  await close();
});

const pages = [
  "/",
  "/runs",
  "/errors",
  "/logs",
  "/ledger",
  "/audit",
  "/jobs/default/good/runs",
  "/jobs/default/good/ledger",
  "/executors/default",
];

it("every page with a range reads any address, and says what is wrong with it", async () => {
  const { page, faults, close } = await open("/", { lang: "zh" });
  for (const path of pages) {
    await page.goto(`${program.url}${path}?range=last-month`);
    await picker(page, "时间范围: 上月").waitFor();
    await page.goto(`${program.url}${path}?from=2001-01-01T00:00:00Z&to=2099-01-01T00:00:00Z`);
    await page
      .getByRole("status")
      .filter({ hasText: /历史记录保留自|最多显示/ })
      .waitFor();
    for (const [bad, says] of [
      ["range=fortnight", "fortnight"],
      ["from=soon&to=2026-11-12T04:00:00Z", "soon"],
      ["from=2026-11-12T04:00:00Z", "from"],
      ["from=2026-11-12T04:00:00Z&to=2026-11-12T03:00:00Z", "from"],
      ["range=today&zone=Mars/Base", "Mars/Base"],
    ] as const) {
      await page.goto(`${program.url}${path}?${bad}`);
      await page.locator(".rangenote").filter({ hasText: says }).waitFor();
    }
  }
  expect(faults).toEqual([]);
  await close();
});

for (const { width, theme, lang } of [
  { width: 1440, theme: "light", lang: "en" },
  { width: 1280, theme: "dark", lang: "zh" },
  { width: 390, theme: "light", lang: "zh" },
] as const)
  it(`the panel is within a window of ${width} pixels`, async () => {
    const { page, faults, close } = await open("/runs?range=week", {
      theme,
      lang,
      viewport: { width, height: 800 },
    });
    await picker(page, /^(Range|时间范围): /).click();
    await panel(page).getByRole("grid").waitFor();
    const box = await panel(page).boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= width && box.y >= 0 && box.y + box.height <= 800).toBe(
      true,
    );
    expect(await axe(page)).toEqual([]);
    if (process.env.PICTURES)
      await page.screenshot({ path: `${process.env.PICTURES}/range-${width}-${theme}-${lang}.png` });
    expect(faults).toEqual([]);
    await close();
  });
