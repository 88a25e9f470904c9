import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { patience } from "./patience.ts";

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export interface OpenOptions extends BrowserContextOptions {
  theme?: "light" | "dark" | "system";
  lang?: "en" | "zh";
  /** Timers of so many milliseconds and more never fire. */
  noTimersFrom?: number;
}

/** Debian's Chromium: the one without windows, which takes three quarters of the time, or else the whole. */
const debians = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** Fonts that a browser finds: all of this machine, or all but the Chinese, Japanese and Korean ones. */
export type Fonts = "all" | "no-cjk";

/** V8 collects a page's garbage less often, and keeps what it compiles of a script at its first run. */
const savings = ["--js-flags=--min-semi-space-size=64", "--v8-cache-options=code"];

/** Starts Debian's Chromium; CHROMIUM names another. */
export function launch(fonts: Fonts = "all"): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? debians.find((path) => existsSync(path)),
    args: ["--no-sandbox", "--no-proxy-server", ...savings],
    ...(fonts === "no-cjk" && {
      env: { ...process.env, FONTCONFIG_FILE: new URL("no-cjk.conf", import.meta.url).pathname },
    }),
  });
}

/** A page in a context of its own, and what went wrong in it. */
export interface Tab {
  page: Page;
  /** Errors on the console (broken content security policy among them), exceptions, and requests to elsewhere. */
  faults: string[];
  close(): Promise<void>;
}

export async function open(
  browser: Browser,
  url: string,
  path: string,
  options: OpenOptions = {},
): Promise<Tab> {
  const { theme = "light", lang = "en", noTimersFrom = Number.POSITIVE_INFINITY, ...rest } = options;
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    timezoneId: "Asia/Shanghai",
    reducedMotion: "reduce",
    ...rest,
  });
  await context.addInitScript(
    (prefs) => {
      const chosen = JSON.parse(localStorage.getItem("carillon.prefs") ?? "{}");
      localStorage.setItem("carillon.prefs", JSON.stringify({ ...chosen, ...prefs }));
    },
    { theme, lang },
  );
  if (noTimersFrom < Number.POSITIVE_INFINITY)
    await context.addInitScript((from) => {
      const { setTimeout: after, setInterval: every } = window;
      const never = () => after(() => {}, 0);
      Object.assign(window, {
        setTimeout: (f: TimerHandler, ms = 0, ...args: unknown[]) =>
          ms >= from ? never() : after(f, ms, ...args),
        setInterval: (f: TimerHandler, ms = 0, ...args: unknown[]) =>
          ms >= from ? never() : every(f, ms, ...args),
      });
    }, noTimersFrom);
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  const faults: string[] = [];
  page.on("pageerror", (e) => faults.push(`exception: ${e.message}`));
  page.on("console", (m) => {
    // That a request was refused is said by the page itself, where it matters.
    if (m.type() === "error" && !m.text().startsWith("Failed to load resource"))
      faults.push(`console: ${m.text()}`);
  });
  page.on("request", (r) => {
    if (!r.url().startsWith(url) && !r.url().startsWith("data:") && !r.url().startsWith("blob:"))
      faults.push(`request to ${r.url()}`);
  });
  await page.goto(url + path);
  return { page, faults, close: () => context.close() };
}

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
}

/** What axe finds wrong with a page by WCAG 2.2 AA, a line each; or with what a selector finds in it. */
export async function axe(page: Page, within = "html"): Promise<string[]> {
  // Put in by the debugger, which no content security policy is for, and once a document, since it is large.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource);
  const result = await page.evaluate<AxeResult>(
    `axe.run(${JSON.stringify(within)}, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] })`,
  );
  return result.violations.flatMap((v) =>
    v.nodes.map((n) => `${v.id}: ${v.help}: ${n.html.slice(0, 200)} ${n.failureSummary ?? ""}`),
  );
}
