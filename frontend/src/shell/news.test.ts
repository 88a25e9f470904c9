import { InfiniteQueryObserver, QueryClient } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";
import { jobSnapshot } from "@/api/editor";
import type { News, Topic } from "@/lib/events";
import { hearNews } from "./news";

let tell: (news: News) => void;
vi.mock("@/lib/events", async (actual) => ({
  ...(await actual<object>()),
  followNews: (_: string, f: typeof tell) => {
    tell = f;
  },
}));

/** A client that hears news. */
function listening(): QueryClient {
  const client = new QueryClient();
  hearNews(client);
  return client;
}

it("asks again for those jobs that the news name, and for what is counted over all jobs only when jobs change", () => {
  const keys = {
    list: ["jobs", "list", {}],
    facets: ["jobs", "facets", {}],
    named: ["jobs", "named", ["a/one", "a/two"], 30],
    one: ["jobs", "one", "a", "one", 12, 72],
  };
  const told = (topic: Topic, names?: string[]) => {
    const client = listening();
    for (const key of Object.values(keys)) client.setQueryData(key, "known");
    tell({ reload: undefined, topics: new Map([[topic, names && new Set(names)]]) });
    return Object.entries(keys).flatMap(([name, key]) =>
      client.getQueryState(key)?.isInvalidated ? [name] : [],
    );
  };
  expect(told("runs", ["a/two"])).toEqual(["list", "named"]);
  expect(told("runs", ["a/other"])).toEqual(["list"]);
  expect(told("runs")).toEqual(["list", "named", "one"]);
  expect(told("jobs", ["a/one"])).toEqual(["list", "facets", "named", "one"]);
});

it("reloads a list although its next page has just been requested", async () => {
  const client = listening();
  const list = new InfiniteQueryObserver(client, {
    queryKey: ["audit", {}],
    queryFn: async ({ pageParam }) => pageParam,
    initialPageParam: 0,
    getNextPageParam: (page: number) => page + 1,
  });
  const stop = list.subscribe(() => undefined);
  await vi.waitFor(() => expect(list.getCurrentResult().data?.pages).toEqual([0]));
  const reload = performance.now() + 1;
  const now = vi.spyOn(performance, "now").mockReturnValue(reload + 1);
  await list.fetchNextPage();
  stop();
  now.mockRestore();
  tell({ reload, topics: new Map() });
  expect(client.getQueryState(["audit", {}])?.isInvalidated).toBe(true);
});

it("keeps the version that is being edited when everything is loaded again", () => {
  const client = listening();
  const edited = jobSnapshot({ group: "a", name: "one" }, "edit").queryKey;
  const list = ["audit", {}];
  for (const key of [edited, list]) client.setQueryData(key, "known");
  tell({ reload: performance.now() + 1, topics: new Map() });
  expect(client.getQueryState(list)?.isInvalidated).toBe(true);
  expect(client.getQueryState(edited)?.isInvalidated).toBe(false);
});
