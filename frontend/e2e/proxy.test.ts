import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const { program, openAt } = stage((p) => p.job("default/first", "echo hello"));

/** A proxy that keeps the body of a stream of events to itself, as some do until it has ended. */
function buffering(): Promise<Server> {
  const proxy = createServer((asked, answer) => {
    const url = new URL(asked.url ?? "/", program.url);
    const forward = request(url, { method: asked.method, headers: asked.headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      if (url.pathname === "/api/v1/events") {
        answer.flushHeaders();
        got.resume();
      } else got.pipe(answer);
    });
    answer.on("close", () => forward.destroy());
    forward.on("error", () => answer.destroy());
    asked.pipe(forward);
  });
  return new Promise((resolve) => proxy.listen(0, "127.0.0.1", () => resolve(proxy)));
}

let proxy: Server | undefined;
afterAll(() => {
  proxy?.closeAllConnections();
  proxy?.close();
});

it("behind a proxy that holds streams back a page asks every few seconds, and says so", async () => {
  proxy = await buffering();
  const { page, faults, close } = await openAt(
    `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    "/jobs",
  );
  await page.locator("table.jobs").getByText("first").waitFor();
  await page.locator(".tools").getByText("Polling").waitFor();
  expect(await axe(page)).toEqual([]);
  await program.job("default/second", "echo hello");
  await page.locator("table.jobs").getByText("second").waitFor();
  expect(faults).toEqual([]);
  await close();
});
