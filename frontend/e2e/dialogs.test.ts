import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { axe } from "./browser.ts";
import { openings } from "./dialogs.ts";
import { geometry } from "./geometry.ts";
import { arrange } from "./scene.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(arrange);

/** A phone that is held upright, a tablet, and a laptop. */
const sizes = [
  { width: 320, height: 640 },
  { width: 768, height: 900 },
  { width: 1440, height: 900 },
];

/** At which of the sizes axe looks at the dialog in each theme. The page behind it has pages.test.ts. */
const themes = [
  { theme: "light", read: 2 },
  { theme: "dark", read: 0 },
] as const;

// Each dialog is opened once, and the system turns dark and light around it.
describe.concurrent("every dialog", () => {
  it.each([{ half: 0 }, { half: 1 }])("can be read and closed at any width: half $half", async ({ half }) => {
    const tab = await open("/", { theme: "system" });
    const wrong: string[] = [];
    tab.page.on("dialog", (d) => void d.accept()); // an edit that is left asks
    for (const { name, path, open } of openings.filter((_, i) => i % 2 === half)) {
      await tab.page.setViewportSize({ width: 1440, height: 900 });
      await tab.page.goto(program.url + path);
      await tab.page.locator("h1").first().waitFor();
      await open(tab.page);
      await tab.page.getByRole("dialog").waitFor();
      for (const [i, size] of sizes.entries()) {
        await tab.page.setViewportSize(size);
        for (const { theme, read } of themes) {
          await tab.page.emulateMedia({ colorScheme: theme });
          await tab.page.waitForSelector(`[data-theme=${theme}]`);
          const found = [...(await geometry(tab.page)), ...(await outOfReach(tab.page))];
          if (i === read) found.push(...(await axe(tab.page, "[role=dialog]")));
          wrong.push(...found.map((text) => `${name}, ${size.width} px, ${theme}: ${text}`));
        }
      }
      await tab.page.keyboard.press("Escape");
      await tab.page.getByRole("dialog").waitFor({ state: "detached" });
      await tab.page
        .waitForFunction(() => document.activeElement !== document.body)
        .catch(() => {
          wrong.push(`${name}: nothing has the focus after it`);
        });
    }
    expect(wrong).toEqual([]);
    expect(tab.faults).toEqual([]);
    await tab.close();
  });
});

/** Buttons above and below the part of a dialog that scrolls, as far as they lie outside of the window. */
function outOfReach(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const all = document.querySelectorAll("[role=dialog] header button, [role=dialog] footer button");
    return [...all].flatMap((button) => {
      const box = button.getBoundingClientRect();
      const within =
        box.width > 0 &&
        box.left >= 0 &&
        box.top >= 0 &&
        box.right <= innerWidth &&
        box.bottom <= innerHeight;
      return within ? [] : [`the button "${button.textContent || button.ariaLabel}" is out of reach`];
    });
  });
}
