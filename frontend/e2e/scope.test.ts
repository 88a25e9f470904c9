import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { arrangeOwners } from "./owners.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  await arrangeOwners(p, { schedule: { cron: "0 3 * * *" } });
  for (const name of ["report", "report", "sync", "sync"]) await p.run(`default/${name}`);
});

for (const [lang, words] of Object.entries({
  en: {
    filter: "Filter by group, owner or tag",
    owner: "Owner",
    clear: "Clear: Owner",
    calm: "Nothing needs attention",
  },
  zh: {
    filter: "按分组、负责人或标签筛选",
    owner: "负责人",
    clear: "清除: 负责人",
    calm: "没有需要处理的事项",
  },
} as const))
  it(`the overview is narrowed to an owner, remembers it and is cleared again (${lang})`, async () => {
    const { page, faults, close } = await open("/", {
      lang: lang as "en" | "zh",
      viewport: { width: 390, height: 844 },
    });
    const runs = page.locator(".kpi .v").first();
    await expect.poll(() => runs.textContent()).toBe("4");
    await page.locator(".li", { hasText: "report" }).first().waitFor();
    await page.getByRole("button", { name: words.filter }).press("Enter");
    await page.getByRole("button", { name: words.owner, exact: true }).press("Enter");
    await page.getByRole("menuitemcheckbox", { name: /bob/ }).press("Enter");
    await expect.poll(() => runs.textContent()).toBe("2");
    await page.getByText(words.calm).waitFor();
    expect(new URL(page.url()).searchParams.get("owner")).toBe("bob");
    expect(await axe(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);

    await page.goto(program.url);
    await page.getByRole("button", { name: words.clear }).waitFor();
    await expect.poll(() => runs.textContent()).toBe("2");
    await page.locator(".kpi").first().click();
    await page.waitForURL("**/runs?*owner=bob*");
    await page.locator("main tbody tr, main .card").first().waitFor();
    await page.goto(program.url);
    await page.getByRole("button", { name: words.clear }).press("Enter");
    await expect.poll(() => runs.textContent()).toBe("4");
    expect(new URL(page.url()).searchParams.has("owner")).toBe(false);
    expect(faults).toEqual([]);
    await close();
  });
