import { readdirSync, readFileSync } from "node:fs";
import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, it, vi } from "vitest";
import { auditList } from "./access";
import { incidentList } from "./alerts";
import { api } from "./client";
import { jobList } from "./jobs";
import { jobLedger, ledgerAudit } from "./ledger";
import { logSearch } from "./logs";
import { runList } from "./runs";
import { firesPages } from "./schedule";

const range = { from: "2026-01-05T00:00:00Z", to: "2026-01-06T00:00:00Z" };

/** Every list that comes in pages. */
const lists = {
  auditList: auditList({}),
  firesPages: firesPages(range, 3),
  incidentList: incidentList("firing"),
  jobLedger: jobLedger({ group: "billing", name: "report" }, range, undefined),
  jobList: jobList({}, "attention"),
  ledgerAudit: ledgerAudit(range),
  logSearch: logSearch({}),
  runList: runList({}),
};

afterEach(() => vi.restoreAllMocks());

it("the table has every list that comes in pages", () => {
  const found = readdirSync("src/api")
    .filter((file) => /(?<!\.test|\.gen)\.ts$/.test(file))
    .flatMap((file) => [
      ...readFileSync(`src/api/${file}`, "utf8").matchAll(/function (\w+)\([^)]*\) \{\n {2}return infinite/g),
    ])
    .map(([, name]) => name);
  expect(found.sort()).toEqual(Object.keys(lists));
  // Nothing else has pages.
  const elsewhere = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file) && !file.startsWith("api/"))
    .filter((file) => /infiniteQueryOptions|getNextPageParam/.test(readFileSync(`src/${file}`, "utf8")));
  expect(elsewhere).toEqual([]);
});

/** What a server answers that has so many rows, the newest first. */
function serve(rows: number) {
  const asked: (string | undefined)[] = [];
  vi.spyOn(api, "GET").mockImplementation((async (_: string, options: unknown) => {
    const { limit = 100, cursor } = (options as { params: { query: { limit?: number; cursor?: string } } })
      .params.query;
    asked.push(cursor);
    const start = Number(cursor ?? 0);
    const items = Array.from({ length: Math.min(limit, rows - start) }, (_, i) => rows - start - i);
    const next = start + items.length;
    return { data: { items, next: next < rows ? String(next) : undefined } };
  }) as unknown as typeof api.GET);
  return asked;
}

interface Pages {
  pages: { items: unknown[]; next?: string }[];
}

it.each(Object.entries(lists))("%s has one row more than a page, from the newest on", async (_, list) => {
  const client = new QueryClient();
  const read = async (pages: number) => {
    client.clear();
    return (await client.fetchInfiniteQuery({ ...list, pages, retry: false } as never)) as Pages;
  };
  serve(10_000);
  const size = (await read(1)).pages[0]?.items.length ?? 0;
  vi.restoreAllMocks();
  const asked = serve(size + 1);
  const { pages } = await read(3);
  expect(pages.map((p) => p.items.length)).toEqual([size, 1]);
  expect(asked).toEqual([undefined, String(size)]);
  const rows = pages.flatMap((p) => p.items);
  expect(rows).toEqual(Array.from({ length: size + 1 }, (_, i) => size + 1 - i));
});
