import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { afterEach, expect, it } from "vitest";
import { healthQuery, holdQuery } from "@/api/cluster";
import { historyQuery } from "@/api/retention";
import type { HistoryState } from "@/api/schema.gen";
import { getConnection, noteBehind, noteVersion } from "@/lib/connection";
import { StoreCard } from "@/pages/cluster/StoreCard";
import { type Rendered, render } from "@/test/render";
import { Banner } from "./Banner";

let page: Rendered | undefined;
afterEach(() => page?.remove());

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

/** Shows the banner and what the cluster's page says of a history that has so much to take. */
function shown(change: Partial<HistoryState>): string {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData<unknown>(holdQuery.queryKey, { paused: false });
  client.setQueryData<unknown>(healthQuery.queryKey, { ok: true, checks: [] });
  client.setQueryData<HistoryState>(historyQuery.queryKey, {
    as_of: ago(600),
    backlog: [{ stream: "LOG", messages: 9000, since: ago(600) }],
    store_answers: true,
    dead_letters: 0,
    bytes: 1,
    disk_bytes: 0,
    disk_free_bytes: 0,
    ...change,
  });
  page = render(
    <QueryClientProvider client={client}>
      <Banner />
      <StoreCard />
    </QueryClientProvider>,
  );
  return page.host.textContent ?? "";
}

it("while the history catches up, it says for how long", () => {
  noteBehind(true);
  const text = shown({
    backlog: [{ stream: "LOG", messages: 9000, since: ago(600), per_second: 74.6 }],
    caught_up_at: ago(-120.4),
  });
  expect(text).toMatch(
    /The log store is behind: runs and logs after .* may be missing\. It will catch up in about 2m\./,
  );
  expect(text).toContain("Caught up inabout 2m");
  expect(text).toContain("9,000 waiting · shrinks by 75 per second");
});

it("a history that is behind and does not catch up has no end", () => {
  noteBehind(true);
  const text = shown({});
  expect(text).toContain("It is not catching up yet.");
  expect(text).toContain("Caught up innot catching up yet");
  expect(text).not.toContain("shrinks");
});

it("a stream that does not answer is named", () => {
  noteBehind(false);
  const text = shown({
    backlog: [
      { stream: "TRIG", messages: 0 },
      { stream: "EVT1", messages: 0, unavailable: true },
    ],
  });
  expect(text).toContain("EVT1does not answer");
  expect(text).not.toContain("TRIG");
});

it("what waits while it is written makes no history behind", () => {
  noteBehind(true);
  const text = shown({ backlog: [{ stream: "LOG", messages: 9000, since: ago(2) }] });
  expect(text).not.toContain("behind");
  expect(text).not.toContain("Caught up");
  expect(getConnection().behind).toBe(false);
});

it("another version than the page was loaded from is told of once it answers", () => {
  noteBehind(false);
  noteVersion("1");
  noteVersion("1");
  expect(shown({ backlog: [] })).not.toContain("The server has a new version of the console");
  page?.remove();
  noteVersion("2");
  noteVersion("1"); // of a server that is still to be upgraded
  expect(shown({ backlog: [] })).toContain("The server has a new version of the console");
});
