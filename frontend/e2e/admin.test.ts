import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open } = stage();

it("a crontab and a file of documents are imported after a look at what would become of each", async () => {
  const { page, faults, close } = await open("/jobs");
  await page.getByRole("button", { name: "Import" }).click();
  const drawer = page.getByRole("dialog");
  await drawer.getByRole("button", { name: "Crontab" }).click();
  await drawer
    .getByLabel("The crontab")
    .fill("# name: nightly\n0 3 * * *  echo report\n@reboot  echo warm-up\n75 * * * *  echo never\n");
  await drawer.getByRole("button", { name: "Check" }).click();
  await drawer.getByText("1 to create, 1 skipped and 1 refused. Nothing has been saved yet.").waitFor();
  expect(await axe(page)).toEqual([]);
  await drawer.getByRole("button", { name: "Save 1 job" }).click();
  await drawer.getByText("1 saved").waitFor();
  await drawer.getByRole("button", { name: "Close" }).last().click();
  await page.locator("table.jobs").getByText("nightly").waitFor();

  await page.getByRole("button", { name: "Import" }).click();
  await drawer.getByLabel("Jobs and calendars").fill(
    `calendar: holidays
dates: ["12-25"]
---
job: default/nightly
schedule: {cron: "0 4 * * *", except: [holidays]}
task: {shell: echo report}
---
nonsense: all of it
---
job: default/wrong
schedule: {cron: "75 * * * *"}
task: {shell: "true"}
`,
  );
  await drawer.getByRole("button", { name: "Check" }).click();
  await drawer.getByText("1 to create, 1 to change and 2 refused").waitFor();
  await drawer.getByText("This is neither a job nor a calendar").waitFor();
  await drawer.getByRole("button", { name: "Save 2 documents" }).click();
  await drawer.getByText("2 saved, 2 refused").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a calendar is edited, and the record says who did it", async () => {
  const { page, faults, close } = await open("/calendars");
  await page.getByRole("button", { name: "Edit holidays" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Dates").fill("12-25\n12-26");
  await dialog.getByRole("button", { name: "Add a window" }).click();
  await dialog.getByLabel("Days").fill("sun");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save as v2" }).click();
  await page.getByText("2 dates · 1 weekly window").waitFor();

  await page.getByRole("link", { name: "Audit log" }).click();
  const row = page.locator("tr", { hasText: "Saved the calendar" }).first();
  await row.getByText("holidays").waitFor();
  await row.getByRole("button", { name: "What changed" }).click();
  await page.locator(".opened").getByText("dates").first().waitFor();
  expect(await axe(page)).toEqual([]);

  await page.goto(`${program.url}/jobs/default/nightly/audit`);
  await page.locator("table.audit").getByText("import").first().waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a file of holidays is read, and the fires that it takes out are shown before it is saved", async () => {
  const now = new Date();
  const year = now.getUTCFullYear() + (now.toISOString().slice(5, 10) < "07-04" ? 0 : 1); // of the next 4 July
  const ics = (...events: string[][]) => ({
    name: "holidays.ics",
    mimeType: "text/calendar",
    buffer: Buffer.from(
      [
        "\ufeffBEGIN:VCALENDAR",
        "X-WR-TIMEZONE:UTC",
        ...events.flatMap((e) => ["BEGIN:VEVENT", ...e, "END:VEVENT"]),
        "END:VCALENDAR",
        "",
      ].join("\r\n"),
    ),
  });
  const { page, faults, close } = await open("/calendars");
  await page.getByRole("button", { name: "Edit holidays" }).click();
  const dialog = page.getByRole("dialog");
  const file = dialog.getByLabel("Import .ics");
  await file.setInputFiles(ics(["DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=YEARLY;BYSETPOS=1;BYDAY=MO"]));
  await dialog.getByText("line 5 has a rule with BYSETPOS=1, which is not understood").waitFor();
  await file.setInputFiles(
    ics(
      ["SUMMARY:New Ye", " ar", "DTSTART;VALUE=DATE:20200101", "RRULE:FREQ=YEARLY"],
      ["SUMMARY:Move", `DTSTART;VALUE=DATE:${year}0704`, `DTEND;VALUE=DATE:${year}0706`],
      ["SUMMARY:Lunch", "DTSTART:20260704T120000Z", "DTEND:20260704T130000Z"],
    ),
  );
  await dialog.getByText("3 events read from the file").waitFor({ state: "detached" });
  await dialog.getByText("2 events read from the file, 1 left out").waitFor();
  await dialog.getByText("New Year").waitFor();
  await dialog.getByText("left out: it does not last whole days").waitFor();
  expect(await dialog.getByLabel("Dates").inputValue()).toBe(
    `01-01\n12-25\n12-26\n${year}-07-04\n${year}-07-05`,
  );
  const affected = dialog.getByRole("region", { name: "Affected fires within a year" });
  const skipped = affected.getByText(/^[34] more fires skipped$/); // within 366 days New Year may be twice
  await skipped.first().waitFor();
  await affected.getByText("default/nightly").waitFor();
  await affected.getByText(`${year}-07-04 04:00`).waitFor();
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save as v3" }).click();
  await page.getByText("5 dates").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("an administrator saves the diagnostics as a file, which the record tells", async () => {
  const { page, faults, close } = await open("/settings/about");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const saved = await download;
  expect(saved.suggestedFilename()).toMatch(/^carillon-diagnostics-\d{8}T\d{6}Z\.zip$/);
  await page.getByText(`${saved.suggestedFilename()} saved`).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.goto(`${program.url}/audit`);
  await page.locator("tr", { hasText: "Created a diagnostics bundle" }).first().waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a user is made with a link, and a token is shown once", async () => {
  const { page, faults, close } = await open("/settings/users");
  await page.getByRole("button", { name: "New user" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("User", { exact: true }).fill("lin.wei");
  await dialog.getByLabel("Role", { exact: true }).selectOption("operator");
  const create = dialog.getByRole("button", { name: "Create with a link" });
  expect(await create.isDisabled()).toBe(true); // nobody is let in everywhere by default
  await dialog.getByLabel("Executor group").selectOption("default");
  await dialog.getByLabel("parameters").uncheck();
  expect(await axe(page)).toEqual([]);
  await create.click();
  await dialog.locator(".reveal").getByText("#invitation=").waitFor();
  await dialog.getByRole("button", { name: "Done" }).click();
  const { items } = await program.api<{ items: { user: string; access: unknown[] }[] }>("GET", "/users");
  const letters = page.locator("tr", { hasText: "lin.wei" }).locator(".av");
  expect(await letters.evaluate((el) => getComputedStyle(el).backgroundColor)).not.toBe("rgba(0, 0, 0, 0)");
  expect(items.map((u) => [u.user, u.access])).toEqual([
    ["lin.wei", [{ role: "operator", group: "default", grants: ["logs"] }]],
  ]);

  await page.getByRole("link", { name: "API tokens" }).click();
  await page.getByRole("button", { name: "New token" }).click();
  await dialog.getByLabel("What it is for").fill("CI");
  await dialog.getByLabel("User", { exact: true }).fill("lin.wei");
  await dialog.getByRole("button", { name: "Create token" }).click();
  const secret = await dialog.locator(".reveal").textContent();
  const answer = await fetch(`${program.url}/api/v1/me`, {
    headers: { Authorization: `Bearer ${secret}`, Via: "1.1 proxy" },
  });
  expect(await answer.json()).toMatchObject({ user: "lin.wei", how: "token" });
  await dialog.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "New token" }).click();
  await dialog.getByLabel("What it is for").fill("Shop");
  await dialog.getByLabel("User", { exact: true }).fill("lin.wei");
  await dialog.getByLabel("It can only send signals to workflows").check();
  await dialog.getByRole("button", { name: "Create token" }).click();
  const narrow = await dialog.locator(".reveal").textContent();
  const refused = await fetch(`${program.url}/api/v1/jobs`, {
    headers: { Authorization: `Bearer ${narrow}`, Via: "1.1 proxy" },
  });
  expect(refused.status).toBe(403);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Everybody's" }).click();
  await page.locator("tr", { hasText: "Shop" }).getByText("signals only").waitFor();
  for (const token of ["Shop", "CI"]) {
    await page.locator("tr", { hasText: token }).getByRole("button", { name: "Revoke" }).click();
    await dialog.getByRole("button", { name: "Revoke" }).click();
    await dialog.waitFor({ state: "detached" });
  }
  await page.getByText("No tokens").waitFor();
  expect(faults).toEqual([]);
  await close();
});

it("a Chinese word is found inside a sentence, and a part of a word, and each is marked alone", async () => {
  await program.job("default/orders", 'echo "订单 7 处理失败，稍后重试"; echo "reconnecting to db"');
  await program.run("default/orders");
  const { page, faults, close } = await open("/logs?q=失败");
  const marks = page.locator(".hits mark");
  await page.locator(".hits .m", { hasText: "处理失败" }).first().waitFor();
  expect(await marks.allTextContents()).toEqual(["失败"]);
  await page.goto(`${page.url().split("?")[0]}?q=*nnect*`);
  await page.locator(".hits .m", { hasText: "reconnecting" }).first().waitFor();
  expect(await marks.allTextContents()).toEqual(["nnect"]);
  expect(faults).toEqual([]);
  await close();
});

it("a word that some run printed leads to its line, and a piece to its own log", async () => {
  await program.job(
    "default/shards",
    'echo "shard $CARILLON_BROADCAST_INDEX"; [ "$CARILLON_BROADCAST_INDEX" != 2 ] || { echo "disk is full" >&2; exit 1; }',
    { map: { pieces: 4 }, succeeds_if: "75%" },
  );
  const run = await program.run("default/shards");
  const { page, faults, close } = await open("/logs");
  await page.locator(".hits li").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type('"disk is full"');
  await page.locator(".hits mark").getByText("disk is full").first().waitFor();
  expect(await axe(page)).toEqual([]);
  await page.locator(".hits a.ll").first().click();
  await page.waitForURL(`**/runs/${run}?attempt=1&piece=2#L*`);
  await page.locator(".ll.linked").getByText("disk is full").waitFor();
  await page.getByRole("button", { name: "Piece 0: Succeeded" }).click();
  await page.locator(".ll").getByText("shard 0").waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
});
