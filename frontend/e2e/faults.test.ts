import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { Program } from "./program.ts";
import { Server } from "./server.ts";
import { stage } from "./stage.ts";

const { program, open, openAt } = stage(async (p) => {
  await p.job("default/report", "echo done", { schedule: { cron: "0 3 * * *" } });
  await p.run("default/report");
});

const saveDialog = (page: Page) => page.getByRole("dialog").getByRole("button", { name: /Save as v/ });

it("while the server restarts a form keeps what is in it, and is saved once it is back", async () => {
  const { page, close } = await open("/jobs/default/report/edit");
  await page.getByLabel("Description").fill("written before the restart");
  await program.stop();
  await page.getByText("The server does not answer. You see the state of").waitFor();
  await page.keyboard.press("Control+s");
  await page.getByRole("dialog").getByRole("alert").getByText("The server does not answer.").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await program.start();
  await page.getByText("The server does not answer. You see the state of").waitFor({ state: "detached" });
  expect(await page.getByLabel("Description").inputValue()).toBe("written before the restart");
  await page.keyboard.press("Control+s");
  await saveDialog(page).click();
  await page.getByRole("heading", { name: "report" }).waitFor();
  await page.getByText("written before the restart").waitFor();
  await close();
});

it("while NATS is away jobs are listed, the page says what is away, and nothing of an edit is lost", async () => {
  await program.api("PUT", "/users/ops", { access: [{ role: "admin", group: "*" }] });
  const { secret } = await program.api<{ secret: string }>("POST", "/tokens", {
    name: "console",
    user: "ops",
  });
  const server = new Server(program);
  await server.start();
  const signedIn = { extraHTTPHeaders: { Authorization: `Bearer ${secret}` } };
  const { page, close } = await openAt(server.url, "/jobs/default/report/edit", signedIn);
  const { page: list, close: closeList } = await openAt(server.url, "/jobs", signedIn);
  await list.locator("table.jobs").getByText("report").waitFor();
  await page.getByLabel("Description").fill("half a thought");

  await program.stop();
  await list.getByText("NATS does not answer: until it does").waitFor();
  await list.locator(".health").getByText("NATS does not answer").waitFor();
  expect(await list.locator("table.jobs").getByText("report").count()).toBe(1);
  expect(await axe(list)).toEqual([]);
  await list.getByRole("link", { name: "Cluster" }).click();
  await list.getByText("nothing fires until it does").waitFor();
  expect(await list.getByText("Jobs fire on schedule").count()).toBe(0);
  await list.goBack();
  await list.reload();
  await list.locator("table.jobs").getByText("report").waitFor();
  await page.keyboard.press("Control+s");
  await page.getByRole("dialog").getByRole("alert").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect(await page.getByLabel("Description").inputValue()).toBe("half a thought");

  await program.start();
  await list.getByText("NATS does not answer: until it does").waitFor({ state: "detached" });
  await page.keyboard.press("Control+s");
  await saveDialog(page).click();
  await page.getByRole("heading", { name: "report" }).waitFor();
  await close();
  await closeList();
  await server.remove();
});

it("while the log store is away the streams answer for it, and what they do not have is not said to be nothing", async () => {
  const nobody = new Program(undefined, "--store", "clickhouse://carillon@127.0.0.1:9/carillon");
  await nobody.start();
  await nobody.job("default/report", "echo done", { schedule: { cron: "0 3 * * *" } });
  const { page, faults, close } = await openAt(nobody.url, "/jobs");
  await page.getByText(/^The log store does not answer: jobs keep running\. Runs and logs since/).waitFor();
  const row = page.locator("tr", { hasText: "report" });
  await row.getByRole("button", { name: "Run now" }).click();
  await page.locator(".toast").getByRole("button", { name: "Open run" }).click();
  await page.getByText("Succeeded").first().waitFor();
  await page.locator(".log").getByText("done", { exact: true }).waitFor();
  expect(await axe(page)).toEqual([]);
  for (const path of ["/runs", "/jobs/default/report/runs"]) {
    await page.goto(nobody.url + path);
    await page.locator("tr", { hasText: "Succeeded" }).first().waitFor();
    expect(await axe(page), path).toEqual([]);
  }
  await page.goto(`${nobody.url}/logs?q=done`);
  await page.locator("mark", { hasText: "done" }).first().waitFor();
  await page.goto(nobody.url);
  await page.locator(".kpis").getByText("100.0%").waitFor();
  expect(await axe(page)).toEqual([]);
  await page.goto(`${nobody.url}/ledger`);
  await page.locator("main").getByRole("alert").first().waitFor();
  expect(await axe(page)).toEqual([]);
  expect(faults).toEqual([]);
  await close();
  await nobody.remove();
});

it("a line of a megabyte and bytes that are no text are shown as what they are", async () => {
  await program.job(
    "default/odd",
    String.raw`printf 'a\001b\377c\n'; printf '<script>document.title="owned"</script>\n'; head -c 1000000 /dev/zero | tr '\0' x; echo; head -c 3000 /dev/urandom; echo`,
  );
  const run = await program.run("default/odd");
  const { page, faults, close } = await open(`/runs/${run}#L1`);
  await page.getByText('<script>document.title="owned"</script>').waitFor();
  await page.getByText(/^a.?b\ufffdc$/).waitFor();
  const more = page.getByRole("button", { name: /^\+[\d,]+ more$/ }).first();
  await more.click();
  const whole = await page.getByRole("dialog").locator("pre").textContent();
  expect(whole?.length).toBeGreaterThan(10_000);
  expect(whole).toMatch(/^…?x+…$/);
  expect(await axe(page)).toEqual([]);
  expect(await page.title()).not.toBe("owned");
  expect(faults).toEqual([]);
  await close();
});

it("a browser whose clock is an hour off shows the server's times", async () => {
  const { page, close } = await open("/settings/about");
  await page.addInitScript(() => {
    const real = Date;
    const off = 3_600_000;
    globalThis.Date = class extends real {
      constructor(...args: []) {
        if (args.length === 0) super(real.now() + off);
        else super(...args);
      }
      static override now() {
        return real.now() + off;
      }
    } as DateConstructor;
  });
  await program.job("default/soon", "echo done", { schedule: { fixed_rate: "30m" } });
  await program.run("default/soon");
  await page.goto(`${program.url}/jobs`);
  await page.getByText("This machine's clock differs from the server's by").waitFor();
  const row = page.locator("tr", { hasText: "soon" });
  await row
    .getByText(/^(now|just now|\d+ s ago|[1-9] min ago)$/)
    .first()
    .waitFor();
  await row
    .getByText(/^in (\d+|a few) (s|min)/)
    .first()
    .waitFor();
  expect(await axe(page)).toEqual([]);
  await close();
});

it("a slow network keeps what was there, says that it waits, and does nothing twice", async () => {
  await program.job("default/tracked", "echo done");
  const { page, close } = await open("/jobs");
  await page.locator("table.jobs").getByText("report").waitFor();
  // The network takes as long as it takes to see that the page waits.
  let arrive = () => {};
  let network: Promise<void> = Promise.resolve();
  const slow = () => {
    network = new Promise((resolve) => {
      arrive = resolve;
    });
  };
  await page.route(/\/api\/v1\/jobs/, async (route) => {
    await network;
    await route.continue().catch(() => {}); // the page may have gone on
  });
  slow();
  await page.keyboard.press("/");
  await page.keyboard.type("tracked");
  await page.locator(".scroller.stale").waitFor();
  expect(await page.locator("table.jobs").getByText("report").count()).toBe(1);
  arrive();
  await page.getByText("1 job", { exact: true }).waitFor();
  slow();
  await page.goto(`${program.url}/jobs/default/tracked`);
  await page.locator("[aria-busy]").first().waitFor();
  arrive();

  const { items: before } = await program.api<{ items: unknown[] }>("GET", "/runs?job=default/tracked");
  const button = page.getByRole("button", { name: "Run now" });
  await button.waitFor();
  slow();
  await button.click();
  await page.getByRole("button", { name: "Run now", disabled: true }).waitFor();
  await button.click({ force: true, timeout: 1000 }).catch(() => {});
  arrive();
  await page.getByRole("button", { name: "Open run" }).waitFor();
  await expect
    .poll(
      async () => (await program.api<{ items: unknown[] }>("GET", "/runs?job=default/tracked")).items.length,
    )
    .toBe(before.length + 1);
  await close();
});

it("a log that loses its connection goes on without a line lost or doubled", async () => {
  await program.job("default/steady", 'for n in $(seq 1 120); do echo "line $n"; sleep 0.1; done');
  const { run_id } = await program.api<{ run_id: string }>("POST", "/jobs/default/steady/run", {});
  const { page, close } = await open(`/runs/${run_id}`);
  await page.locator(".ll").getByText("line 10", { exact: true }).waitFor();
  await page.context().setOffline(true);
  await page.waitForTimeout(2500);
  await page.context().setOffline(false);
  await page.locator(".runhead").getByText("Succeeded").waitFor();
  await page.locator(".ll").getByText("line 120", { exact: true }).waitFor();
  await page.locator(".logfoot").getByText("120 lines").waitFor();
  const seen = new Set<string>();
  const log = page.locator(".log");
  const drawn = (n: number) => log.getByText(`line ${n}`, { exact: true }).waitFor({ state: "attached" });
  for (let n = 1; n < 120; n += 15) {
    await log.evaluate((el, at) => el.scrollTo(0, at), (n - 1) * 20);
    await Promise.all([drawn(n), drawn(Math.min(120, n + 15))]);
    for (const text of await page.locator(".ll .m").allTextContents()) seen.add(text);
  }
  expect([...seen].sort()).toEqual(Array.from({ length: 120 }, (_, i) => `line ${i + 1}`).sort());
  await close();
});

it("a page that cannot be loaded opens by itself when the server is back", async () => {
  const { page, close } = await open("/jobs");
  await page.locator(".tools").getByText("Live").waitFor();
  await program.stop();
  await page.getByRole("link", { name: "Ledger", exact: true }).click();
  await page.getByRole("heading", { name: "This page cannot be loaded" }).waitFor();
  await program.start();
  await page.getByRole("heading", { name: "Ledger" }).waitFor();
  await close();
});

it("a page whose files are gone is reloaded once, and not in a loop", async () => {
  const { page, close } = await open("/jobs");
  await page.locator(".tools").getByText("Live").waitFor();
  let loads = 0;
  page.on("load", () => {
    loads++;
  });
  await page.route("**/assets/LedgerPage*", (route) => route.fulfill({ status: 404, body: "" }));
  await page.getByRole("link", { name: "Ledger", exact: true }).click();
  await page.getByRole("heading", { name: "This page has crashed" }).waitFor();
  expect(loads).toBe(1);
  await page.getByRole("button", { name: "Reload" }).waitFor();
  await close();
});
