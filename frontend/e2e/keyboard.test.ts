import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { stage } from "./stage.ts";

const { program, open } = stage();

/** Presses Tab until what has the focus has a name: whoever has no mouse does no less. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  await page.getByText(name).or(page.getByLabel(name)).filter({ visible: true }).first().waitFor();
  const passed: string[] = [];
  for (let i = 0; i < 120; i++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const host = document.activeElement as HTMLElement | null;
      const e = (host?.shadowRoot?.activeElement as HTMLElement | null) ?? host; // an editor has a tree of its own
      const label = e instanceof HTMLInputElement ? e.labels?.[0]?.textContent : undefined;
      return (e?.getAttribute("aria-label") ?? label ?? e?.textContent ?? "").trim();
    });
    if (name.test(at)) return;
    passed.push(at);
  }
  throw new Error(`nothing named ${name} is reached; passed ${passed.join(" | ")}`);
}

/** Runs the job of the page, once the job is there, which binds the key, and no dialog has the keys. */
async function runIt(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Run now" }).waitFor();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("r");
}

it("a job is made, run, its error found and another run cancelled without a mouse", async () => {
  await program.job("default/endless", "echo working; sleep 600");
  const { page, faults, close } = await open("/jobs");
  await page.getByRole("heading", { name: "Jobs" }).waitFor();
  await page.locator("tbody tr").first().waitFor();

  await page.keyboard.press("n");
  await page.getByRole("heading", { name: "New job" }).waitFor();
  await tabTo(page, /^Name/);
  await page.keyboard.type("breaks");
  await page.locator(".cm-host .cm-content").first().waitFor(); // comes after the form
  await tabTo(page, /^Script\./);
  await page.keyboard.insertText("echo about to break; exit 3");
  await page.keyboard.press("Control+S");
  await page.getByRole("dialog").getByText("This is a new job").waitFor();
  await tabTo(page, /^Create job$/);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "breaks" }).waitFor();

  await runIt(page);
  await tabTo(page, /^Open run$/);
  await page.keyboard.press("Enter");
  await page.locator(".runhead").getByText("Failed").first().waitFor();
  await page.locator(".ll").getByText("about to break").waitFor();

  await page.keyboard.press("Control+K");
  await page.keyboard.type("endless");
  await page
    .getByRole("option", { name: /endless/ })
    .first()
    .waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "endless" }).waitFor();
  await runIt(page);
  await tabTo(page, /^Open run$/);
  await page.keyboard.press("Enter");
  await page.locator(".ll").getByText("working").waitFor();
  await tabTo(page, /^Cancel run$/);
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await tabTo(page, /^Cancel run$/);
  await page.keyboard.press("Enter");
  await page.locator(".runhead").getByText("Cancelled").first().waitFor();
  expect(faults).toEqual([]);
  await close();
});
