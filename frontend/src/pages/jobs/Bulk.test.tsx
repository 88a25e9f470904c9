import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { afterEach, beforeAll, expect, it, vi } from "vitest";
import type { JobItem, JobVersion } from "@/api/schema.gen";
import { meQuery } from "@/api/session";
import { loadPages, MessagesContext } from "@/i18n";
import { en } from "@/i18n/en";
import { zh } from "@/i18n/zh";
import { type Entry, useJobActions } from "@/shell/palette/entries";
import { find, type Rendered, render } from "@/test/render";
import { Bulk } from "./Bulk";

vi.mock("@tanstack/react-router", async (original) => ({
  ...(await original<object>()),
  useNavigate: () => vi.fn(),
}));

let shown: Rendered | undefined;
beforeAll(() => loadPages("zh"));
afterEach(() => shown?.remove());

const item = (job: string, task: object) => ({ definition: { job, task } as JobVersion }) as JobItem;
const watched = item("ops/backup", { watch: { grace: "30m" } });
const executed = item("ops/report", { shell: "./report.sh" });
const texts = [
  [en, "This job runs elsewhere.", "All selected jobs run elsewhere."],
  [zh, "此任务在外部运行", "所选任务均在外部运行"],
] as const;

function show(node: React.ReactNode, words: typeof en) {
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(meQuery.queryKey, { can: { operate: ["*"], edit: ["*"] } } as never);
  shown?.remove();
  shown = render(
    <QueryClientProvider client={client}>
      <MessagesContext value={words}>{node}</MessagesContext>
    </QueryClientProvider>,
  );
  return shown.host;
}

it("disables Run and Backfill, and says why, only if all selected jobs run elsewhere", () => {
  for (const [words, , why] of texts) {
    const titles = (known: JobItem[], more: string[] = []) => {
      const selected = new Set([...known.map((x) => x.definition.job), ...more]);
      const host = show(
        <Bulk filter={{}} total={5} known={known} selected={selected} onSelect={() => {}} />,
        words,
      );
      return [...host.querySelectorAll<HTMLButtonElement>("button:disabled")].map((b) => b.title);
    };
    expect(titles([watched])).toEqual([expect.stringContaining(why), expect.stringContaining(why)]);
    expect(titles([watched, executed])).toEqual([]);
    expect(titles([watched], ["ops/unloaded"])).toEqual([]);
  }
});

it("says in the palette why a job that runs elsewhere cannot be run", () => {
  for (const [words, why] of texts) {
    const run = (of: JobItem): Entry | undefined => {
      let found: Entry | undefined;
      function Ask() {
        found = useJobActions()(of.definition).find((e) => e.id === "a-run");
        return <i />;
      }
      find(show(<Ask />, words), "i");
      return found;
    };
    expect(run(watched)?.disabled).toContain(why);
    expect(run(executed)?.disabled).toBeUndefined();
  }
});
