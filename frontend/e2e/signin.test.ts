import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

// Who comes through a proxy is not on the program's own machine, and must sign in.
const elsewhere = { extraHTTPHeaders: { Via: "1.1 proxy" } };

const { program, open } = stage((p) => p.job("default/report", "echo done"));

it("a viewer is invited, chooses a password, and is offered only what they may do", async () => {
  await program.api("PUT", "/users/ann", {
    display_name: "Ann",
    access: [{ role: "viewer", group: "default" }],
  });
  await program.run("default/report");
  await program.job("default/report", "echo done again");
  const { link } = await program.api<{ link: string }>("POST", "/users/ann/invite");
  const { page, faults, close } = await open(new URL(link).pathname + new URL(link).hash, elsewhere);
  const refused: string[] = [];
  page.on("response", (r) => r.status() === 403 && refused.push(r.url()));
  await page.getByText("Choose a password for ann").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Set password and sign in" }).click();
  await page.locator(".me").getByText("Ann").waitFor();
  expect(page.url()).not.toContain("invitation");

  await page.goto(`${program.url}/jobs/default/report`);
  await page.getByRole("heading", { name: "report" }).waitFor();
  expect(await page.getByRole("button", { name: "Run now" }).isDisabled()).toBe(true);
  expect(await page.getByRole("button", { name: "Edit" }).isDisabled()).toBe(true);
  await page.getByText("1 change in this chart").press("Enter");
  await page.getByText("Only versions of the job are listed.").waitFor();
  expect(await axe(page)).toEqual([]);

  // Keys and the palette offer no more than buttons do, and nothing is asked that is refused.
  await page.keyboard.press("r");
  await page.keyboard.press("d");
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog");
  await palette.getByRole("combobox").fill("rep");
  await palette.getByText("Show failed runs").waitFor();
  expect(await palette.getByText("Run now").count()).toBe(0);
  expect(await palette.getByText("Edit", { exact: true }).count()).toBe(0);
  await page.keyboard.press("Escape");
  await page.goto(`${program.url}/jobs/default/report/edit`);
  await page.getByText("Only editors of the group can change this job").waitFor();
  expect(await page.getByLabel("Description").isDisabled()).toBe(true);
  await page.locator(".cm-content[aria-readonly]").first().waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("button", { name: "YAML" }).click();
  await page.locator(".cm-content[aria-readonly]").getByText("default/report").waitFor();
  const notTheirs = ["audit", "settings/users", "settings/secrets", "settings/retention", "alerts/channels"];
  for (const path of [...notTheirs, "jobs/new", "jobs/default/report/audit"]) {
    await page.goto(`${program.url}/${path}`);
    await page.getByText("You do not have permission to see this").waitFor();
    expect(await axe(page), path).toEqual([]);
  }
  expect(refused).toEqual([]);
  await page.goto(`${program.url}/jobs/risk/score`);
  await page.getByText("this needs the role viewer in group risk").waitFor();
  expect(await page.getByText("You do not have permission to see this").count()).toBe(1);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("signing in leads to where the link did, and a wrong password says little", async () => {
  const { page, close } = await open("/jobs?q=rep", elsewhere);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByLabel("User").fill("ann");
  await page.getByLabel("Password").fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("User name or password is wrong.").waitFor();
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("1 job", { exact: true }).waitFor();
  await close();
});

it("a session that ends in the middle of something leaves it as it was", async () => {
  await program.api("PUT", "/users/ann", {
    display_name: "Ann",
    access: [{ role: "editor", group: "default" }],
  });
  const { page, close } = await open("/jobs/default/report/edit", elsewhere);
  await page.getByLabel("User").fill("ann");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByLabel("Description").fill("half a thought");
  await program.api("DELETE", "/users/ann/sessions");
  await page.getByText("Your session has ended").waitFor();
  expect(await page.getByLabel("User").inputValue()).toBe("ann");
  await page.getByLabel("Password").fill("correct horse battery");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Your session has ended").waitFor({ state: "detached" });
  expect(await page.getByLabel("Description").inputValue()).toBe("half a thought");
  await page.keyboard.press("Control+s");
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /Save as v/ })
    .click();
  await page.getByRole("heading", { name: "report" }).waitFor();
  await close();
});
