import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, open, openAt } = stage(async (p) => {
  await p.job("default/first", "echo hello");
  await p.run("default/first"); // else one is shown the way to a first run
});

const below = "/tools/carillon";
let proxy: Server | undefined;
afterAll(() => {
  proxy?.closeAllConnections();
  proxy?.close();
});

/** A proxy that has the program below a path, and tells its page so. */
function belowPath(): Promise<Server> {
  const server = createServer((asked, answer) => {
    const url = new URL((asked.url ?? "/").slice(below.length) || "/", program.url);
    const headers = { ...asked.headers, "accept-encoding": "identity", "if-none-match": "" };
    const forward = request(url, { method: asked.method, headers }, (got) => {
      if (!got.headers["content-type"]?.startsWith("text/html")) {
        answer.writeHead(got.statusCode ?? 502, got.headers);
        got.pipe(answer);
        return;
      }
      let html = "";
      got.on("data", (chunk: Buffer) => {
        html += chunk.toString();
      });
      got.on("end", () => {
        const { "content-length": _, ...rest } = got.headers;
        answer.writeHead(got.statusCode ?? 502, rest);
        answer.end(html.replace('<base href="/"', `<base href="${below}/"`));
      });
    });
    answer.on("close", () => forward.destroy());
    forward.on("error", () => answer.destroy());
    asked.pipe(forward);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

async function choose(page: Page, name: string): Promise<void> {
  const choice = page.getByRole("group", { name: "Start page" }).getByRole("button", { name });
  await choice.click();
  await expect.poll(() => choice.getAttribute("aria-pressed")).toBe("true");
}

/** Opens the console at an address, sees it begin with the jobs, and finds the overview all the same. */
async function beginsWithJobs(page: Page, home: string): Promise<void> {
  const figures = page.locator(".kpis .v").first();
  await page.goto(`${home}/`);
  await page.locator("table.jobs").getByText("first").waitFor();
  expect(page.url()).toBe(`${home}/jobs`);
  const overview = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Overview" });
  await overview.click();
  await figures.waitFor();
  // Its address is one of the overview, in another tab too.
  const address = page.url();
  expect(address).toBe(`${home}/?range=24h`);
  await page.goto(`${home}/runs`);
  await page.goto(address);
  await figures.waitFor();
  // So is one that was reached otherwise, and loaded again.
  await page.keyboard.press("g");
  await page.keyboard.press("o");
  await expect.poll(() => page.url()).toBe(`${home}/`);
  await page.reload();
  await figures.waitFor();
  expect(page.url()).toBe(`${home}/`);
}

it("the console begins with the jobs for who wants that, and the overview stays where it is", async () => {
  const { page, faults, close } = await open("/settings/profile");
  await choose(page, "Jobs");
  expect(await axe(page)).toEqual([]);
  await beginsWithJobs(page, program.url);
  await page.goto(`${program.url}/settings/profile`);
  await choose(page, "Overview");
  await page.goto(program.url);
  await page.locator(".kpis .v").first().waitFor();
  expect(page.url()).toBe(`${program.url}/`);
  expect(faults).toEqual([]);
  await close();
});

it("so it does below a path", async () => {
  proxy = await belowPath();
  const home = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${below}`;
  const { page, faults, close } = await openAt(home, "/settings/profile");
  await choose(page, "Jobs");
  await beginsWithJobs(page, home);
  expect(faults).toEqual([]);
  await close();
});
