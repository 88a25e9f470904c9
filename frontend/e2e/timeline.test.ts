import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { hourly } from "./calm.ts";
import { stage } from "./stage.ts";

const { open } = stage(async (p) => {
  await p.job("default/hourly", "true", {
    schedule: { cron: hourly() },
    owner: "lin.wei",
    tags: ["nightly", "money"],
  });
  await p.job("default/minutely", "true", { schedule: { cron: "* * * * *" }, tags: ["money"] });
  await p.job("other/hourly", "true", { schedule: { cron: hourly() } });
});

it("the timeline is moved and zoomed by keys and by the wheel", async () => {
  const { page, faults, close } = await open("/schedule?range=6h");
  await page.getByRole("link", { name: "minutely" }).waitFor();
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/from=.*&to=/);
  await page.keyboard.press("0");
  await page.waitForURL(/schedule\?range=6h$/);
  await page.keyboard.press("-");
  await page.waitForURL(/range=24h/);
  await page.keyboard.press("+");
  await page.waitForURL(/range=6h/);
  await page.locator(".tbody").hover();
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, 100);
  await page.waitForURL(/range=24h/);
  await page.keyboard.up("Control");
  expect(faults).toEqual([]);
  await close();
});

it("the timeline shows a day that is chosen, as other pages do, and offers to run it again", async () => {
  const { page, faults, close } = await open("/schedule");
  await page.getByRole("link", { name: "minutely" }).waitFor();
  await page.keyboard.press("Shift+D");
  await page.getByRole("button", { name: "Yesterday" }).click();
  await page.waitForURL(/schedule\?range=yesterday$/);
  await page.getByRole("button", { name: "Range: Yesterday" }).waitFor();
  await page.getByRole("button", { name: "Run this day again" }).waitFor();
  // A day is zoomed into at its middle.
  await page.keyboard.press("+");
  await page.waitForURL(/from=.*T01:00:00.000Z&to=.*T07:00:00.000Z/);
  await page.keyboard.press("0");
  await page.waitForURL(/schedule\?range=6h$/);
  await page.goto(page.url().replace("6h", "month"));
  await page.locator(".rangenote").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("lanes are sorted, left out by how often they fire, and closed by group, and a link has all of it", async () => {
  const { page, faults, close } = await open("/schedule?range=24h", { theme: "dark" });
  const names = page.locator(".tname");
  const lanes = (...expected: string[]) => expect.poll(() => names.allTextContents()).toEqual(expected);
  await lanes("hourly", "minutely", "hourly");
  await page.getByRole("button", { name: "Sort" }).click();
  await page.getByRole("menuitemcheckbox", { name: "By next fire" }).click();
  await lanes("minutely", "hourly", "hourly");
  await page.getByRole("button", { name: "Hide intervals below" }).click();
  await page.getByRole("menuitemcheckbox", { name: "5m", exact: true }).click();
  await lanes("hourly", "hourly");
  await page.locator("button.tgroup").first().click();
  await lanes("all together", "hourly");
  const said = await page.locator(".density").getAttribute("aria-label");
  expect(said).toMatch(/^0 runs, 0 failed, \d+ planned fires$/);
  expect(await axe(page)).toEqual([]);
  await page.reload();
  await lanes("all together", "hourly");
  expect(faults).toEqual([]);
  await close();
});

it("lanes are of jobs, groups and executors, or below owners and tags, and a link has it", async () => {
  const { page, faults, close } = await open("/schedule?range=24h");
  const lanes = (...expected: string[]) =>
    expect.poll(() => page.locator(".tname").allTextContents()).toEqual(expected);
  const sections = (...expected: string[]) =>
    expect.poll(() => page.locator(".tgroup b").allTextContents()).toEqual(expected);
  const by = (name: string) =>
    page.getByRole("group", { name: "Lanes" }).getByRole("button", { name }).click();
  const planned = async () =>
    Number(/(\d+) planned/.exec((await page.locator(".density").getAttribute("aria-label")) ?? "")?.[1]);

  await lanes("hourly", "minutely", "hourly");
  await by("Owners");
  await page.waitForURL(/lanes=owner/);
  await sections("lin.wei", "No owner");
  await lanes("hourly default", "minutely default", "hourly other");
  expect(await axe(page)).toEqual([]);

  await by("Tags");
  await sections("money", "nightly", "No tag");
  await lanes("hourly default", "minutely default", "hourly default", "hourly other");
  await page.locator("button.tgroup", { hasText: "money" }).click();
  await lanes("all together", "hourly default", "hourly other");
  await page.reload();
  await lanes("all together", "hourly default", "hourly other");
  await sections("money", "nightly", "No tag");
  // A job with two tags is there twice, and counted once.
  const counted = await planned();

  await by("Groups");
  await page.waitForURL(/lanes=group/);
  expect(page.url()).not.toContain("closed");
  await sections();
  await lanes("default", "other");
  expect(Math.abs((await planned()) - counted)).toBeLessThanOrEqual(2); // a minute may have passed
  await page.getByRole("link", { name: "default", exact: true }).click();
  await page.waitForURL("**/executors/default");
  expect(faults).toEqual([]);
  await close();
});
