import { afterEach, expect, it, vi } from "vitest";
import { api, dataOf } from "./client";
import { saveJob } from "./jobs";
import type { Job } from "./schema.gen";

const params = '{"big":1234567890123456789,"odd":9007199254740993,"huge":1e400,"decimals":0.1000,"zero":-0}';

afterEach(() => vi.restoreAllMocks());

it("a job goes back to the server with the numbers with which it came", async () => {
  const sent: string[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (request) => {
    if (request instanceof Request && request.method === "PUT") sent.push(await request.text());
    const item = `{"definition":{"job":"a/b","task":{"handler":"h"},"params":${params},"version":1},"revision":7}`;
    return new Response(item, { headers: { "Content-Type": "application/json" } });
  });
  const { definition } = await dataOf(
    api.GET("/api/v1/jobs/{group}/{name}", { params: { path: { group: "a", name: "b" } } }),
  );
  expect(definition.version).toBe(1);
  const job: Job = { job: definition.job, task: definition.task, params: definition.params, title: "new" };
  await saveJob(job, { etag: undefined });
  expect(sent).toEqual([`{"job":"a/b","task":{"handler":"h"},"params":${params},"title":"new"}`]);
});
