import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

const text = (page: Page, selector: string) => page.locator(selector).first().textContent();

it("an empty installation shows the way to a first run", async () => {
  const { page, close } = await open("/");
  await page.getByText("Nothing is scheduled yet").waitFor();
  await page.locator(".guide li.done").first().waitFor(); // dev has an executor
  await page.getByRole("link", { name: "New job" }).last().click();
  await page.getByRole("heading", { name: "New job" }).waitFor();
  await close();
});

it("a job is made by a sentence, saved after a review, run, and read while it runs", async () => {
  const { page, faults, close } = await open("/jobs/new");
  await page.getByLabel("Name", { exact: true }).fill("slow-count");
  await page.locator(".sentence select").last().selectOption("week");
  await page.getByRole("button", { name: "Sat" }).click();
  await expect
    .poll(() =>
      page.locator(".cron input").evaluateAll((cells) => cells.map((c) => (c as HTMLInputElement).value)),
    )
    .toEqual(["0", "3", "*", "*", "MON-SAT"]);
  await page.getByText("Mon to Sat at 03:00").waitFor();
  await page.locator(".previewrail .fires li").nth(7).waitFor();

  // A cell changes the sentence, and what is wrong is said by the server.
  await page.locator(".cron input").nth(1).fill("75");
  await page.locator(".previewrail .note").getByText("cron").waitFor();
  await page.locator(".cron input").nth(1).fill("4");
  await page.getByText("Mon to Sat at 04:00").waitFor();

  await page.locator(".cm-host .cm-content").first().click();
  await page.keyboard.insertText('for n in 1 2 3 4 5; do echo "$n of 5"; sleep 0.3; done');
  await page.getByRole("button", { name: "Create job" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("This is a new job").waitFor();
  await dialog.getByLabel("Note (optional)").fill("first try");
  await dialog.getByRole("button", { name: "Create job" }).click();
  await page.getByRole("heading", { name: "slow-count" }).waitFor();

  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByRole("button", { name: "Open run" }).click();
  await page.locator(".ll").getByText("1 of 5").waitFor();
  await page.locator(".runhead").getByText("Succeeded").waitFor();
  await page.locator(".ll").getByText("5 of 5").waitFor();
  expect(await page.locator(".ll").count()).toBe(5);
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});

it("three clicks lead from what is wrong to the line that says why", async () => {
  await program.job(
    "default/broken",
    "for n in $(seq 1 300); do echo line $n; done; sleep 0.3; echo 'connection refused' >&2; exit 3",
  );
  await program.run("default/broken");
  const { page, close } = await open("/");
  await page.locator(".li").getByText("broken", { exact: true }).click(); // not the reports, further down
  await page.getByRole("heading", { name: "broken" }).waitFor();
  await page.locator(".ll.e, .ll.w, .ll").getByText("connection refused", { exact: true }).waitFor();
  await close();
});

it("a log shows what was printed as text, whatever it is", async () => {
  await program.job(
    "default/odd-log",
    String.raw`echo "<img src=x onerror=document.title='owned'>"; printf '\033[31mred\033[0m\n'; head -c 100000 /dev/zero | tr '\0' y; echo; for n in $(seq 1 3000); do echo row $n; done`,
  );
  const run = await program.run("default/odd-log");
  const { page, faults, close } = await open(`/runs/${run}#L1`); // a finished one opens at its end
  await page.getByText("<img src=x").waitFor();
  await page.locator(".a-fg-red").getByText("red").waitFor();
  await page
    .getByRole("button", { name: /^\+[\d,]+ more$/ })
    .first()
    .waitFor();
  expect(await page.locator(".ll").count()).toBeLessThan(90);
  await page.getByLabel("Find in log").fill("row 2999");
  await page.keyboard.press("Enter");
  await page.locator("mark.cur").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("G");
  await page.locator(".ll").getByText("row 3000").waitFor();

  const { page: linked, close: closeLinked } = await open(`/runs/${run}#L1500`);
  await linked.locator(".ll.linked").waitFor();
  expect(await text(linked, ".ll.linked .m")).toMatch(/^row \d+$/);
  expect(await page.title()).not.toBe("owned");
  expect(faults).toEqual([]);
  await close();
  await closeLinked();
});

it("filters are in the address, and a palette finds what they do not", async () => {
  const { page, close } = await open("/jobs");
  await page.locator("table.jobs tbody tr").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("odd");
  await page.waitForURL("**/jobs?q=odd");
  await page.getByText("1 job", { exact: true }).waitFor();
  await page.reload();
  await page.getByText("1 job", { exact: true }).waitFor();
  expect(await page.locator("table.jobs tbody tr").count()).toBe(1);

  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").waitFor();
  await page.keyboard.type("slow");
  await page.getByRole("option").getByText("Run now").waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "slow-count" }).waitFor();
  await close();
});

it("several jobs are paused after a review, and one is resumed by undoing", async () => {
  const { page, close } = await open("/jobs");
  await page.getByLabel("Select default/slow-count").check();
  await page.getByLabel("Select default/broken").check();
  await page.getByRole("toolbar").getByRole("button", { name: "Pause" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/\d fires? within the next hour/).waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Pause 2 jobs" }).click();
  await dialog.getByText("2 done, 0 failed").waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.locator("tr", { hasText: "slow-count" }).getByText("Paused").waitFor();

  await page.locator("tr", { hasText: "slow-count" }).getByRole("button", { name: "Resume" }).click();
  await page.locator(".toast").getByText("default/slow-count resumed").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.locator(".toast").getByText("default/slow-count paused").waitFor();
  await close();
});

it("leaving an edit asks first", async () => {
  const { page, close } = await open("/jobs/default/broken/edit");
  await page.getByLabel("Description").fill("half a thought");
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stay" }).click();
  expect(await page.getByLabel("Description").inputValue()).toBe("half a thought");
  await close();
});

it("a server that goes away is said to be away, and comes back without a reload", async () => {
  const { page, close } = await open("/cluster");
  await page.locator(".shardlists").waitFor();
  await program.stop();
  await page.getByText("The server does not answer. You see the state of").waitFor();
  await page.locator("header").getByText("No connection").waitFor();
  await program.start();
  await page.getByText("The server does not answer. You see the state of").waitFor({ state: "detached" });
  await close();
});
