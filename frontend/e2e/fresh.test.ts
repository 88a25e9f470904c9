import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { Server } from "./server.ts";
import { stage } from "./stage.ts";

const { program, openAt } = stage();

it("the first administrator is made by the link in the log, and shown the way to a first job", async () => {
  const server = new Server(program);
  await server.start();
  const { page: stranger, close: closeStranger } = await openAt(server.url, "/");
  await stranger.getByText("There is no administrator yet.").waitFor();
  expect(await axe(stranger)).toEqual([]);

  const { page, faults, close } = await openAt(server.url, await server.welcome);
  await page.getByText("Create the administrator").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByLabel("User").fill("root");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Set password and sign in" }).click();
  await page.locator(".me").getByText("root").waitFor();
  await page.locator(".guide").getByRole("link", { name: "New job" }).waitFor();
  expect(await axe(page)).toEqual([]);

  await page.locator(".guide").getByRole("link", { name: "New job" }).click();
  await page.getByLabel("Name", { exact: true }).fill("hello");
  await page.locator(".cm-content").first().click();
  await page.keyboard.insertText("echo hello");
  await page.getByRole("button", { name: "Create job" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create job" }).click();
  await page.getByRole("heading", { name: "hello" }).waitFor();
  expect(faults).toEqual([]);

  // Nobody is made an administrator by the same link again.
  await stranger.goto(server.url + (await server.welcome));
  await stranger.getByText("This link has been used, or has expired.").waitFor();
  await close();
  await closeStranger();
  await server.remove();
});
