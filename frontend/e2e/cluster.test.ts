import { afterAll, expect, it } from "vitest";
import { axe } from "./browser.ts";
import { Server } from "./server.ts";
import { stage } from "./stage.ts";

const { program, open } = stage(async (p) => {
  await p.job("default/quick", "echo done");
  await p.run("default/quick");
});
const second = new Server(program);
afterAll(() => second.remove());

it("the cluster's page tells how durable everything is, of the streams, and of who takes from them", async () => {
  for (const theme of ["light", "dark"] as const) {
    const { page, faults, close } = await open("/cluster", { theme });
    const figures = page.locator(".kpis");
    await figures.getByText("One copy").waitFor();
    await figures.getByText("up to date").waitFor();
    const stream = page.locator("tr", { hasText: "events of runs, from executors" });
    await stream.getByText("EVT").waitFor();
    await page.locator("tr", { hasText: "any-default" }).getByText("runs of default").waitFor();
    await page.getByText(/^and \d+ buckets with/).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(faults).toEqual([]);
    await close();
  }
});

it("leases that move to another node are seen to", async () => {
  const { page, faults, close } = await open("/cluster");
  const moves = page.locator("section", { hasText: "Latest shard moves" });
  await moves.getByText("64 shards to dev").waitFor();
  await second.start("scheduler,store,api");
  await page.locator(".shard.new[aria-label$=': second']").first().waitFor();
  // Those that stay where they are are one row.
  const steady = page.locator(".shardlists summary", { hasText: /dev: \d+ shards/ });
  await steady.click();
  await page.locator("details[open] .shard[aria-label$=': dev']").first().waitFor();
  await moves
    .getByText(/to second$/)
    .first()
    .waitFor();
  await page
    .locator("tr", { hasText: "second" })
    .getByText(/^[1-9]/)
    .first()
    .waitFor();
  expect(await page.locator(".shard.new").count()).toBeGreaterThan(0);
  await second.remove();
  await page.locator(".shards [aria-label$=': second']").first().waitFor({ state: "detached" });
  await moves
    .getByText(/to dev$/)
    .first()
    .waitFor();
  expect(faults).toEqual([]);
  await close();
});
