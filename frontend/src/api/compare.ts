import { queryOptions } from "@tanstack/react-query";
import { every } from "@/lib/every";
import { timeless } from "@/lib/logdiff";
import { isLiving } from "@/lib/status";
import { api, dataOf } from "./client";
import { logLines, runsKey } from "./runs";
import type { Run, RunDetail, Status } from "./schema.gen";

/** The runs of a run's job that it can be compared with: the newest, and the last that succeeded. */
export function comparedQuery({ run_id, job }: RunDetail) {
  return queryOptions({
    queryKey: [...runsKey, "compare", run_id],
    queryFn: async ({ signal }) => {
      const some = (query: { limit: number; status?: Status[] }) =>
        dataOf(api.GET("/api/v1/runs", { signal, params: { query: { job: [job], ...query } } }));
      const [newest, good] = await Promise.all([
        some({ limit: 30 }),
        some({ limit: 2, status: ["succeeded"] }),
      ]);
      const all = [...good.items, ...newest.items].filter((r) => r.run_id !== run_id);
      return {
        all: [...new Map(all.map((r) => [r.run_id, r])).values()],
        good: good.items.find((r) => r.run_id !== run_id)?.run_id,
      };
    },
  });
}

/**
 * The last lines of two attempts' logs, at most so many of each, without what they say of time. gone is how
 * many lines a log had that is deleted by now.
 */
export function comparedLogs(both: (Run | undefined)[], most: number) {
  return queryOptions({
    queryKey: ["logs", "diff", ...both.map((r) => `${r?.run_id}.${r?.attempt}.${r?.status}`)],
    queryFn: async () => {
      const pages = await Promise.all(
        both.map((r) => r && logLines(r.run_id, r.attempt, "end", most, r.broadcast_index)),
      );
      const gone = both.map((r, i) => (r && pages[i]?.items.length === 0 ? (r.log_lines ?? 0) : 0));
      const [a = "", b = ""] = pages.map((page) => timeless(page?.items ?? []));
      return { a, b, gone: Math.max(...gone) };
    },
    staleTime: 60_000,
    refetchInterval: both.some((r) => r && isLiving(r.status)) ? every(5000) : false,
  });
}
