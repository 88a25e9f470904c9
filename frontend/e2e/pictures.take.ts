import { mkdirSync } from "node:fs";
import { it } from "vitest";
import { arrange, type Place } from "./scene.ts";
import { stage } from "./stage.ts";

// Not a test: `task console:pictures` takes pictures of every page, to be looked at.
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

it("the README's", async () => {
  const tab = await open("/jobs/default/payment-reconcile", {
    viewport: { width: 1280, height: 720 },
  });
  await tab.page.waitForSelector(".incident");
  await tab.page.waitForTimeout(600);
  await tab.page.screenshot({ path: `${docs}console.png` });
  await tab.close();
}, 60_000);
