import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { axe, launch, open } from "./browser.ts";
import { Program } from "./program.ts";
import { arrange, type Place } from "./scene.ts";

const program = new Program();
let browser: Browser;
let places: Place[];

beforeAll(async () => {
  await program.start();
  [browser, places] = await Promise.all([launch(), arrange(program)]);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await program.remove();
});

describe("every page", () => {
  it.each([
    ["light", "en"],
    ["dark", "zh"],
  ] as const)(
    "is without a violation of WCAG 2.2 AA, an error or a request elsewhere: %s, %s",
    async (theme, lang) => {
      const tab = await open(browser, program.url, "/", { theme, lang });
      for (const place of places) {
        await tab.page.goto(program.url + place.path);
        await tab.page.waitForSelector(place.ready);
        expect(await axe(tab.page), `${place.name}, ${theme}`).toEqual([]);
        if (lang === "zh")
          expect(await english(tab.page), `${place.name}: English left in Chinese`).toEqual([]);
        expect(await tab.page.title()).not.toBe("owned");
      }
      expect(tab.faults).toEqual([]);
      await tab.close();
    },
    120_000,
  );

  it("needs no scrolling sideways at 320 pixels", async () => {
    const tab = await open(browser, program.url, "/", { viewport: { width: 320, height: 700 } });
    for (const place of places) {
      await tab.page.goto(program.url + place.path);
      await tab.page.waitForSelector(place.ready, { state: "attached" });
      const width = await tab.page.evaluate(() => document.documentElement.scrollWidth);
      expect(width, place.name).toBeLessThanOrEqual(320);
    }
    await tab.close();
  }, 60_000);
});

/** Texts of controls and headings that look English, but for names and terms that stay. */
async function english(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() =>
    [...document.querySelectorAll("button, th, h1, h2, h3, label, .nav, .tab, dt, .mut")]
      .filter((e) => !e.closest("tbody, .fires, .ll, .vlist, pre, code, .mono, kbd, .tag"))
      .map((e) => e.textContent ?? ""),
  );
  return texts.filter((text) => /^[A-Z][a-z]+( [a-z]+)*$/.test(text) && !known.has(text));
}

const known = new Set(["Carillon", "English", "Cron", "Quartz", "Shell", "Go", "Esc", "Enter"]);
