import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { stepsQuery } from "./steps";

afterEach(() => vi.unstubAllGlobals());

it("reads steps again only if they are no more as they were", async () => {
  const answers = [
    new Response('{"run_id":"r1","status":"running","steps":[]}', { headers: { ETag: '"a"' } }),
    new Response(null, { status: 304, headers: { ETag: '"a"' } }),
    new Response('{"run_id":"r1","status":"failed","steps":[]}', { headers: { ETag: '"b"' } }),
  ];
  const asked: (string | null)[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    asked.push(request.headers.get("If-None-Match"));
    return answers.shift();
  });
  const client = new QueryClient();
  const options = { ...stepsQuery("r1"), staleTime: 0 };
  const first = await client.fetchQuery(options);
  expect(await client.fetchQuery(options)).toBe(first);
  expect((await client.fetchQuery(options)).steps.status).toBe("failed");
  expect(asked).toEqual([null, '"a"', '"a"']);
});
