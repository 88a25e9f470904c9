import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { failuresQuery } from "@/api/reports";
import { runList } from "@/api/runs";
import type { Cause, Status } from "@/api/schema.gen";
import { FilterChip } from "@/components/FilterChip";
import { More } from "@/components/More";
import { Empty } from "@/components/Panel";
import { RunTable } from "@/components/RunTable";
import { Sideways } from "@/components/Sideways";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { usualRunColumns } from "@/lib/columns";
import { every } from "@/lib/every";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { alignedEnd, spans } from "@/lib/ranges";
import { statuses } from "@/lib/status";
import { Fingerprints } from "@/pages/reports/Fingerprints";
import { causes } from "@/router";

const columns = usualRunColumns("job");

/** All runs of a job, the newest fire first. */
export default function RunsTab({ job }: { job: string }) {
  const t = usePageT();
  const navigate = useNavigate();
  const { status, cause } = useSearch({ strict: false });
  const list = useInfiniteQuery({
    ...runList({ job: [job], status, cause }),
    refetchInterval: (q) => ((q.state.data?.pages.length ?? 0) > 2 ? false : every(3000)()),
  });
  const runs = list.data?.pages.flatMap((p) => p.items) ?? [];
  const set = (change: { status?: Status[]; cause?: Cause[] }) =>
    void navigate({
      to: "/jobs/$group/$name/$tab",
      params: { ...refOf(job), tab: "runs" },
      search: { status, cause, ...change },
      replace: true,
    });
  return (
    <>
      <JobFailures job={job} />
      <div className="filters">
        <FilterChip
          name={t.runlist.status}
          multiple
          options={statuses.map((s) => ({ value: s, label: t.status[s] }))}
          chosen={status ?? []}
          onChange={(next) => set({ status: next.length ? next : undefined })}
        />
        <FilterChip
          name={t.runlist.cause}
          multiple
          options={causes.map((c) => ({ value: c, label: t.cause[c] }))}
          chosen={cause ?? []}
          onChange={(next) => set({ cause: next.length ? next : undefined })}
        />
      </div>
      {!list.data ? (
        <Waiting on={list} rows={14} />
      ) : runs.length === 0 ? (
        <Empty icon={SearchX} title={status || cause ? t.runlist.none : t.job.noRuns} />
      ) : (
        <>
          <Sideways>
            <RunTable runs={runs} columns={columns} />
          </Sideways>
          <More of={list} end={t.runlist.end} />
        </>
      )}
    </>
  );
}

/** In which ways the job failed within a month; nothing if it did not. */
function JobFailures({ job }: { job: string }) {
  const to = alignedEnd(useNow(), 3600e3);
  const range = { from: new Date(to - spans["30d"]).toISOString(), to: new Date(to).toISOString() };
  const failures = useQuery(failuresQuery({ job: [job] }, range)).data?.items ?? [];
  if (failures.length === 0) return null;
  return (
    <div className="pad ways">
      <Fingerprints failures={failures} ofOneJob />
    </div>
  );
}
