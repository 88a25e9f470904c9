import { mkdirSync } from "node:fs";
import { it } from "vitest";
import { openings } from "./dialogs.ts";
import { arrange, type Place } from "./scene.ts";
import { stage } from "./stage.ts";

// Not a test: `task console:pictures` takes pictures of every page and dialog, to be looked at.
const folder = new URL("../pictures/", import.meta.url).pathname;
const docs = new URL("../../docs/", import.meta.url).pathname;
let places: Place[];

mkdirSync(folder, { recursive: true });
const { program, open } = stage(async (p) => {
  places = await arrange(p);
});

for (const theme of ["light", "dark"] as const) {
  for (const lang of ["en", "zh"] as const) {
    it(`${theme} ${lang}`, async () => {
      const tab = await open("/", { theme, lang });
      for (const place of places) {
        await tab.page.goto(program.url + place.path);
        await tab.page.waitForSelector(place.ready);
        await tab.page.waitForTimeout(600); // charts measure their width, fonts arrive
        await tab.page.screenshot({ path: `${folder}${place.name}-${theme}-${lang}.png` });
      }
      await tab.close();
    }, 120_000);
  }
}

it("small", async () => {
  const tab = await open("/", { viewport: { width: 390, height: 844 } });
  for (const place of places) {
    await tab.page.goto(program.url + place.path);
    await tab.page.waitForSelector(place.ready, { state: "attached" });
    await tab.page.waitForTimeout(400);
    await tab.page.screenshot({ path: `${folder}${place.name}-small.png` });
  }
  await tab.close();
}, 120_000);

for (const [theme, width] of [
  ["light", 1440],
  ["dark", 390],
] as const) {
  it(`dialogs ${theme}`, async () => {
    const { page, close } = await open("/", { theme });
    page.on("dialog", (d) => void d.accept()); // an edit that is left asks
    for (const opening of openings) {
      await page.setViewportSize({ width: 1440, height: 844 });
      await page.goto(program.url + opening.path);
      await page.locator("h1").first().waitFor();
      await opening.open(page);
      await page.getByRole("dialog").waitFor();
      await page.setViewportSize({ width, height: 844 });
      await page.waitForTimeout(400);
      await page.screenshot({ path: `${folder}dialog-${opening.name}-${theme}.png` });
    }
    await close();
  }, 300_000);
}

it("the README's", async () => {
  const tab = await open("/jobs/default/payment-reconcile", {
    viewport: { width: 1280, height: 720 },
  });
  await tab.page.waitForSelector(".incident");
  await tab.page.waitForTimeout(600);
  await tab.page.screenshot({ path: `${docs}console.png` });
  await tab.close();
}, 60_000);
