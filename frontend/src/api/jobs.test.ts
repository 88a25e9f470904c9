import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { beforeEach, expect, it, vi } from "vitest";
import { failingJobs, jobCount } from "./jobs";

const fetch = vi.fn<typeof globalThis.fetch>();

/** Counts by a text as many jobs as it has letters, and refuses a request that has one of "bad". */
function answer(refusal: number) {
  fetch.mockImplementation(async (request) => {
    const { filters }: { filters: { q?: string }[] } = await new Response(new Request(request).body).json();
    if (!filters.some(({ q }) => q === "bad"))
      return Response.json({ totals: filters.map(({ q }) => q?.length ?? null) });
    return Response.json(
      { type: "about:blank", title: "No", status: refusal, code: "invalid", request_id: "" },
      { status: refusal, headers: { "Content-Type": "application/problem+json" } },
    );
  });
}

beforeEach(() => {
  fetch.mockReset();
  vi.stubGlobal("fetch", fetch);
  answer(400);
});

function counts(...texts: (string | undefined)[]) {
  const client = new QueryClient();
  return Promise.allSettled(texts.map((q) => client.fetchQuery({ ...jobCount({ q }), retry: false })));
}

const failed = (status: number) => ({ status: "rejected", reason: { problem: { status } } });

it("counts by all filters of a page in one request", async () => {
  expect(await counts("a", "bb")).toMatchObject([{ value: 1 }, { value: 2 }]);
  expect(fetch).toHaveBeenCalledTimes(1);
});

it("counts by the other filters when one is refused", async () => {
  expect(await counts("a", "bad", "ccc")).toMatchObject([{ value: 1 }, failed(400), { value: 3 }]);
  expect(fetch).toHaveBeenCalledTimes(4); // with all of them, and then with each
});

it("asks once when it is no filter that is wrong, or the only one", async () => {
  answer(503);
  expect(await counts("a", "bad")).toMatchObject([failed(503), failed(503)]);
  expect(fetch).toHaveBeenCalledTimes(1);
  answer(400);
  expect(await counts("bad")).toMatchObject([failed(400)]);
  expect(fetch).toHaveBeenCalledTimes(2);
});

it("fails where the server has no number, and there alone", async () => {
  expect(await counts(undefined, "a")).toMatchObject([failed(0), { value: 1 }]);
});

it("shows no list of failing jobs from before a time in which there was none", async () => {
  const watched = new QueryObserver(new QueryClient(), failingJobs(["failed"], [], false));
  fetch.mockImplementation(async () => Response.json({ items: [{}], total: 1 }));
  const stop = watched.subscribe(() => {});
  await vi.waitFor(() => expect(watched.getCurrentResult().data?.total).toBe(1));
  watched.setOptions(failingJobs(["failed"], [], true));
  await vi.waitFor(() => expect(watched.getCurrentResult().data?.total).toBe(0));
  await vi.waitFor(() => expect(watched.getCurrentResult().isPlaceholderData).toBe(false));
  expect(fetch).toHaveBeenCalledTimes(1);
  fetch.mockImplementation(() => new Promise(() => {}));
  watched.setOptions(failingJobs(["failed"], [], false));
  await vi.waitFor(() => expect(fetch).toHaveBeenCalledTimes(2));
  expect(watched.getCurrentResult().data?.total).toBe(0);
  stop();
});
