import type { AnyRoute } from "@tanstack/react-router";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { en } from "@/i18n/en";
import { pages as enPages } from "@/i18n/en/pages";
import { zh } from "@/i18n/zh";
import { pages as zhPages } from "@/i18n/zh/pages";
import { axe } from "./browser.ts";
import { geometry } from "./geometry.ts";
import { arrange, type Place } from "./scene.ts";
import { stage } from "./stage.ts";

let places: Place[];

const { program, open } = stage(async (p) => {
  places = await arrange(p);
});

/** A phone, a tablet, a laptop, and a wide screen. */
const widths = [320, 768, 1440, 2560];

/** What shows that a script has the texts of the other language. */
const foreign = { en: [zh.skip, zhPages.clock.title], zh: [en.skip, enPages.clock.title] };

// The two share nothing but the program, which is why they may go at the same time.
describe.concurrent("every page", () => {
  it.each([
    { theme: "light", lang: "en", read: 1440 },
    { theme: "dark", lang: "zh", read: 768 },
  ] as const)(
    "is without a violation of WCAG 2.2 AA, an error, a request elsewhere, a text that cannot be read or one of another language: $theme, $lang",
    async ({ theme, lang, read }) => {
      const tab = await open("/", { theme, lang });
      const scripts = new Set<string>();
      tab.page.on("request", (r) => r.resourceType() === "script" && scripts.add(r.url()));
      const wrong: string[] = [];
      const [seen, linked] = [new Set<string>(), new Set<string>()];
      for (const { name, path, ready } of places) {
        await tab.page.setViewportSize({ width: read, height: 900 });
        await tab.page.goto(program.url + path);
        await tab.page.waitForSelector(ready, { state: "attached" });
        const say = (width: number) => (text: string) => wrong.push(`${name}, ${width} px: ${text}`);
        (await axe(tab.page)).forEach(say(read));
        if (lang === "zh") (await english(tab.page)).forEach(say(read));
        for (const width of widths) {
          await tab.page.setViewportSize({ width, height: 900 });
          (await geometry(tab.page)).forEach(say(width));
        }
        expect(await tab.page.title()).not.toBe("owned");
        const routes = await routesOf(tab.page);
        for (const route of routes.here) seen.add(route);
        for (const route of [...routes.linked, ...routes.all]) linked.add(route);
      }
      expect(wrong).toEqual([]);
      expect(tab.faults).toEqual([]);
      // A page that is new has to be among those that are looked at.
      for (const route of linked) if (!seen.has(route)) wrong.push(`${route} is not in scene.ts`);
      for (const script of scripts) {
        const text = await (await tab.page.request.get(script)).text();
        for (const it of foreign[lang]) if (text.includes(it)) wrong.push(`${script} has ${it}`);
      }
      expect(wrong).toEqual([]);
      expect(scripts.size).toBeGreaterThan(10);
      await tab.close();
    },
  );
});

interface Routes {
  /** The page's own, and that of the tab that it has open. */
  here: string[];
  /** Those of the navigation and of tabs, each tab by itself. */
  linked: string[];
  /** All that the router knows, but for those that only lead elsewhere. */
  all: string[];
}

/** Which routes there are, by the router in the page. */
function routesOf(page: Page): Promise<Routes> {
  return page.evaluate(() => {
    const router = window.__TSR_ROUTER__;
    if (!router) throw new Error("there is no router");
    const named = (path: string) => {
      const [routes, params] = router.getMatchedRoutes(path);
      return String(routes.at(-1)?.fullPath ?? "").replace("$tab", params.tab ?? "");
    };
    const path = ({ href }: { href: string }) => new URL(href).pathname;
    const links = document.querySelectorAll<HTMLAnchorElement>("nav.navs a, nav.tabs a, .settings nav a");
    return {
      here: [location, ...[...links].filter((a) => a.ariaCurrent === "page")].map(path).map(named),
      linked: [...links].map(path).map(named),
      all: Object.values(router.routesByPath)
        .filter((r: AnyRoute) => r.options.component && !r.fullPath.includes("$tab"))
        .map((r: AnyRoute) => String(r.fullPath)),
    };
  });
}

/** Texts of controls and headings that look English, but for names and terms that stay. */
async function english(page: Page): Promise<string[]> {
  const texts = await page.evaluate(() =>
    [...document.querySelectorAll("button, th, h1, h2, h3, label, .nav, .tab, dt, .mut")]
      .filter((e) => !e.closest("tbody, .fires, .ll, .vlist, pre, code, .mono, kbd, .tag"))
      .map((e) => e.textContent ?? ""),
  );
  return texts
    .filter((text) => /^[A-Z][a-z]+( [a-z]+)*$/.test(text) && !known.has(text))
    .map((text) => `English left in Chinese: ${text}`);
}

const known = new Set(["Carillon", "English", "Cron", "Quartz", "Shell", "Go", "Esc", "Enter"]);
