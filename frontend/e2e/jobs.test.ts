import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  const more = (owner: string, ...tags: string[]) => ({ owner, tags });
  await p.job("default/close-books", "exit 2", { title: "Close the books", ...more("lin.wei", "money") });
  await p.job("default/mail-invoices", "true", more("noah.kim", "money", "nightly"));
  await p.job("default/sweep", "true", more("lin.wei", "nightly"));
  // Fires of a paused job are recorded as skipped, and then it is none that never ran: none is near.
  await p.job("default/watch", "true", { schedule: { cron: "0 0 29 2 *" }, paused: true });
  await p.run("default/mail-invoices");
  await p.run("default/close-books");
});

/** The names in a table, from above. */
const names = (page: Page) => page.locator("tbody td .name").allTextContents();
const sorted = async (page: Page) => (await names(page)).sort();

it("jobs are filtered by what is chosen of their fields, which the address says and the server counts", async () => {
  const { page, faults, close } = await open("/jobs");
  // What needs somebody comes first.
  await expect.poll(async () => (await names(page))[0]).toBe("Close the books");
  await page.locator(".filters").getByRole("button", { name: "Owner", exact: true }).click();
  await page.getByRole("menuitemcheckbox", { name: "lin.wei 2" }).click();
  await page.waitForURL("**/jobs?owner=lin.wei");
  await expect.poll(() => sorted(page)).toEqual(["Close the books", "sweep"]);
  expect(await axe(page)).toEqual([]);
  // The menu stays, for more; here for all but that one.
  await page.getByRole("menuitemcheckbox", { name: "Exclude these" }).click();
  await page.waitForURL("**/jobs?owner=-lin.wei");
  await expect.poll(() => sorted(page)).toEqual(["mail-invoices", "watch"]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Owner not lin.wei" }).waitFor();

  // Whoever is sent the link sees the same.
  const link = new URL(page.url());
  const other = await open(link.pathname + link.search);
  await expect.poll(() => sorted(other.page)).toEqual(["mail-invoices", "watch"]);
  await other.close();

  await page.getByRole("button", { name: "Clear: Owner" }).click();
  await page.getByRole("link", { name: "Never ran" }).click();
  await page.waitForURL("**/jobs?view=never");
  await expect.poll(() => sorted(page)).toEqual(["sweep", "watch"]);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("menuitem", { name: "State" }).click();
  await page.getByRole("button", { name: "State", exact: true }).click();
  await page.getByRole("menuitemcheckbox", { name: "Paused 1" }).click();
  await expect.poll(() => sorted(page)).toEqual(["watch"]);
  expect(faults).toEqual([]);
  await close();
});

it("the text field understands field:value, and says how it can go on", async () => {
  const { page, faults, close } = await open("/jobs");
  await expect.poll(() => names(page)).toHaveLength(4);
  const field = page.getByRole("combobox");
  await field.fill("mail tag:nig");
  const offered = page.getByRole("option", { name: "nightly" });
  await offered.waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/jobs?q=mail&tag=nightly");
  await expect.poll(() => names(page)).toEqual(["mail-invoices"]);
  expect(await field.inputValue()).toBe("mail");
  await field.fill("-owner:noah.kim ");
  await page.waitForURL((url) => url.searchParams.get("owner") === "-noah.kim" && !url.searchParams.has("q"));
  await expect.poll(() => names(page)).toEqual(["sweep"]);
  await field.fill("nothing like it");
  await page.getByText("No job matches").waitFor();
  await page.getByText("Tag nightly").waitFor();
  await page.getByRole("button", { name: "Clear filters" }).last().click();
  await expect.poll(() => names(page)).toHaveLength(4);
  expect(faults).toEqual([]);
  await close();
});

it("jobs are selected by keys, get tags and an owner after a review, and the result says what became of each", async () => {
  const { page, faults, close } = await open("/jobs?sort=name");
  await expect.poll(() => names(page)).toHaveLength(4);
  await page.locator("h1").click();
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+ArrowDown");
  await page.getByRole("toolbar", { name: "2 selected" }).waitFor();
  await page.keyboard.press("Control+a");
  const bar = page.getByRole("toolbar", { name: "4 selected" });
  await bar.waitFor();
  expect(await axe(page)).toEqual([]);
  await bar.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("dialog").getByText("These will be run").waitFor();
  await page.keyboard.press("Escape");
  await bar.getByRole("button", { name: "Tags and owner" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Add tags").fill("nightly");
  await dialog.getByText("nothing to change").first().waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Change 2 jobs" }).click();
  await dialog.getByText("2 done, 0 failed").waitFor();
  await dialog.getByRole("button", { name: "Close", exact: true }).last().click();
  await page.goto(`${program.url}/jobs?tag=nightly`);
  await expect.poll(() => names(page)).toHaveLength(4);

  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "More actions: default/sweep" }).click();
  await page.getByRole("menuitem", { name: "Export" }).click();
  expect((await saved).suggestedFilename()).toBe("sweep.yaml");
  expect(faults).toEqual([]);
  await close();
});

it("the palette offers what was looked at last, and the right arrow leads to what can be done with a job", async () => {
  const { page, faults, close } = await open("/jobs/default/sweep");
  await page.locator(".jobhead").waitFor();
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog");
  await palette.getByText("Recent").waitFor();
  await palette.getByRole("option", { name: "default/sweep" }).waitFor();
  expect(await axe(page)).toEqual([]);

  const field = palette.getByRole("combobox");
  await field.fill("mail");
  await palette.getByRole("option", { name: "default/mail-invoices", selected: true }).waitFor();
  // What an input method composes is not taken for a choice.
  await field.evaluate((el) =>
    el.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true })),
  );
  await palette.getByText("Search logs for “mail”").waitFor();
  await page.keyboard.press("ArrowRight");
  await palette.getByRole("option", { name: "Run now", selected: true }).waitFor();
  await palette.getByRole("option", { name: "Search its logs" }).waitFor();
  expect(await palette.getByRole("option", { name: "default/sweep" }).count()).toBe(0);
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press("ArrowLeft");
  await palette.getByRole("option", { name: "default/mail-invoices" }).waitFor();
  await field.fill("mail");
  await palette.getByRole("option", { name: "default/mail-invoices", selected: true }).waitFor();
  await page.keyboard.press("ArrowRight");
  await palette.getByRole("option", { name: "Run now", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByText("Run of default/mail-invoices started").waitFor();
  expect(faults).toEqual([]);
  await close();
});
