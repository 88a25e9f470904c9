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
import { alignedEnd } from "@/lib/ranges";
import { statuses } from "@/lib/status";
import { allRanges, type RangeSearch, rangeSearch, spans, type TimeRange } from "@/lib/timerange";
import { Fingerprints } from "@/pages/reports/Fingerprints";
import { causes } from "@/router";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import { useRange } from "@/shell/useRange";

const columns = usualRunColumns("job");

/** All runs of a job, the newest fire first. */
export default function RunsTab({ job, zone }: { job: string; zone: string }) {
  const t = usePageT();
  const navigate = useNavigate();
  const search = useSearch({ strict: false });
  const { status, cause } = search;
  const ranged = useRange(search, { usual: "all", offers: allRanges, within: [job, status, cause] });
  const list = useInfiniteQuery({
    ...runList({ job: [job], status, cause, ...ranged.window }),
    refetchInterval: (q) => ((q.state.data?.pages.length ?? 0) > 2 ? false : every(3000)()),
  });
  const runs = list.data?.pages.flatMap((p) => p.items) ?? [];
  const set = (change: { status?: Status[]; cause?: Cause[] } & RangeSearch) =>
    void navigate({
      to: "/jobs/$group/$name/$tab",
      params: { ...refOf(job), tab: "runs" },
      search: { status, cause, ...rangeSearch({ ...search }), ...change },
      replace: true,
    });
  return (
    <>
      <RangeNote of={ranged} />
      <JobFailures
        job={job}
        range={ranged.range}
        link={ranged.range.name === "all" ? { range: "30d" } : ranged.search}
      />
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
        <span className="right">
          <RangePicker of={ranged} jobZone={zone} onChange={set} />
        </span>
      </div>
      {!list.data ? (
        <Waiting on={list} rows={14} />
      ) : runs.length === 0 ? (
        <Empty
          icon={SearchX}
          title={status || cause || ranged.range.name !== "all" ? t.runlist.none : t.job.noRuns}
        />
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

/** In which ways the job failed within a range, or within a month of all of time; nothing if it did not. */
function JobFailures({ job, range, link }: { job: string; range: TimeRange; link: RangeSearch }) {
  const hour = 3600e3;
  const from = range.name === "all" ? range.to - spans["30d"] : range.from;
  const time = {
    from: new Date(Math.floor(from / hour) * hour).toISOString(),
    to: new Date(alignedEnd(range.to, hour)).toISOString(),
  };
  const failures = useQuery(failuresQuery({ job: [job] }, time)).data?.items ?? [];
  if (failures.length === 0) return null;
  return (
    <div className="pad ways">
      <Fingerprints failures={failures} ofOneJob all={{ job: [job], ...link }} />
    </div>
  );
}
