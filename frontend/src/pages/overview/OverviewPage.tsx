import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowDownRight, ArrowUpRight, Plus } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { jobCount } from "@/api/jobs";
import { overviewQueries, scheduledCauses, scheduledParts } from "@/api/overview";
import { latestRuns } from "@/api/runs";
import type { Cause, Status } from "@/api/schema.gen";
import { Skeleton } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { Spark } from "@/components/Spark";
import { formatDuration } from "@/lib/duration";
import { type Format, useWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { addTotals, type Totals, totalsOf, type Zoom, zoomOf } from "@/lib/ranges";
import { failures, living, type Tone } from "@/lib/status";
import { type Range, ranges } from "@/router";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { Attention } from "./Attention";
import { Guide } from "./Guide";
import { useInFlight } from "./inflight";
import { RunningNow } from "./RunningNow";
import { RunsChart } from "./RunsChart";
import { UpNext } from "./UpNext";

// Below what one opens the page for, and so not among what is loaded first.
const Reports = lazy(() => import("@/pages/reports/Reports"));

/** An installation with so few jobs, none of which has run, is a new one. */
const fewJobs = 3;

/** Is anything wrong, what is running, what fires next. */
export default function OverviewPage() {
  const { t } = useWords();
  const navigate = useNavigate({ from: "/" });
  const { range = "24h", ...part } = useSearch({ from: "/" });
  const zoom = zoomOf(part);
  const jobs = useQuery(jobCount({})).data;
  const ran = useQuery(latestRuns({}, 1)).data?.items.length;
  // Whoever is being shown the way sees it to its end.
  const isFresh = jobs === 0 || (jobs !== undefined && jobs <= fewJobs && ran === 0);
  const [guided, setGuided] = useState(false);
  if (isFresh && !guided) setGuided(true);
  const mayEdit = useMay()("edit");
  return (
    <Page
      crumbs={[{ text: t.overview.title }]}
      actions={
        <>
          <Segments
            label={t.runs.range}
            value={zoom ? "" : range}
            options={ranges.map((r) => ({ value: r, label: r }))}
            onChange={(next) =>
              void navigate({ search: { range: ranges.find((r) => r === next && r !== "24h") } })
            }
          />
          {mayEdit && (
            <Link to="/jobs/new" className="btn pri hide-s">
              <Plus size={14} aria-hidden />
              {t.act.newJob}
            </Link>
          )}
        </>
      }
    >
      <div className="pad">
        {guided && jobs !== undefined ? (
          <Guide jobs={jobs} onDone={() => setGuided(false)} />
        ) : (
          <Figures range={range} zoom={zoom} />
        )}
      </div>
    </Page>
  );
}

interface FiguresProps {
  range: Range;
  /** The part of time that is looked at in its place. */
  zoom: Zoom | undefined;
}

function Figures({ range, zoom }: FiguresProps) {
  return (
    <>
      <Top range={range} zoom={zoom} />
      <div className="grid over-2">
        <RunningNow range={range} zoom={zoom} />
        <UpNext range={range} />
      </div>
      <Suspense fallback={<Skeleton rows={6} />}>
        <Reports range={range} zoom={zoom} />
      </Suspense>
    </>
  );
}

function Top({ range, zoom }: FiguresProps) {
  const { t, f } = useWords();
  const now = useNow();
  const asked = overviewQueries(range, now, zoom);
  const past = useQuery(asked.past);
  const before = useQuery(asked.before).data?.items[0];
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const failingNow = useQuery(asked.failing).data?.total;

  const reports = useQuery(asked.reports).data;
  const delay = reports?.total.started_after;
  const totals = past.data?.items.map(totalsOf) ?? [];
  const sum = addTotals(totals);
  const was = before ? totalsOf(before) : undefined;
  const ended = sum.ok + sum.bad;
  const twice = useQuery(asked.scheduled).data?.items.map(totalsOf);
  const scheduled = twice?.slice(scheduledParts);
  // Where no schedule asks for runs, success is that of all. Before that is known, none is shown.
  const ofSchedules = scheduled && successOf(addTotals(scheduled));
  const success = ofSchedules ?? (scheduled && successOf(sum));
  const wasSuccess =
    twice === undefined || ofSchedules === undefined
      ? was && successOf(was)
      : successOf(addTotals(twice.slice(0, scheduledParts)));
  const slots = groups.flatMap((g) => g.instances).reduce((n, i) => n + i.slots, 0);
  const { running, waiting } = useInFlight(reports?.alive);
  const coarse =
    totals.length === 0
      ? []
      : Array.from({ length: 24 }, (_, i) => addTotals(totals.slice(i * 4, i * 4 + 4)));
  const judged = ofSchedules === undefined ? scheduled && coarse : scheduled;
  const ranged = range === "24h" ? {} : { range };
  const search = zoom ?? ranged;
  const wasRuns = was ? was.ok + was.bad + was.living : 0;

  return (
    <>
      <div className="kpis">
        <Kpi
          label={t.overview.runs}
          value={f.number(ended + sum.living)}
          foot={
            wasRuns > 0 && (
              <Delta
                text={changeOf((ended + sum.living) / wasRuns, f)}
                up={ended + sum.living >= wasRuns}
                note={zoom ? t.overview.versusBefore : t.overview.versus(range)}
              />
            )
          }
          spark={<Spark tone="accent" values={coarse.map((c) => c.ok + c.bad)} />}
          to={search}
        />
        <Kpi
          label={t.overview.success}
          value={success === undefined ? "—" : (success * 100).toFixed(success > 0.99 && success < 1 ? 2 : 1)}
          unit={success === undefined ? "" : "%"}
          foot={
            success !== undefined &&
            wasSuccess !== undefined && (
              <Delta
                text={`${(Math.abs(success - wasSuccess) * 100).toFixed(2)} ${t.overview.points}`}
                up={success >= wasSuccess}
                tone={
                  Math.abs(success - wasSuccess) < 0.0005 ? undefined : success > wasSuccess ? "ok" : "bad"
                }
              />
            )
          }
          spark={<Spark tone="ok" values={judged?.map((c) => successOf(c) ?? 1) ?? []} />}
          to={{
            ...search,
            status: ["succeeded", ...failures, "missed"],
            ...(ofSchedules !== undefined && { cause: scheduledCauses }),
          }}
        />
        <Kpi
          label={t.overview.failed}
          value={f.number(sum.bad)}
          foot={failingNow !== undefined && t.overview.jobsAffected(failingNow)}
          spark={<Spark tone="bad" values={coarse.map((c) => c.bad)} />}
          to={{ ...search, status: failures }}
        />
        <Kpi
          label={t.overview.running}
          value={f.number(running)}
          unit={slots > 0 ? ` ${t.overview.slots(slots)}` : ""}
          foot={t.overview.waiting(waiting)}
          to={{ ...ranged, status: living }}
        />
        <Kpi
          label={t.overview.delay}
          value={delay?.count ? formatDuration(delay.p99_ms) : "—"}
          foot={t.overview.absent(sum.absent)}
          spark={<Spark tone="idle" values={reports?.trend.map((row) => row.started_after.p95_ms) ?? []} />}
          to={{ ...search, status: ["skipped", "missed"] }}
        />
      </div>
      <div className="grid over-2">
        <RunsChart range={range} zoom={zoom} />
        <Attention range={range} />
      </div>
    </>
  );
}

/** The share of the fires that went well, of those that did or did not; undefined of none. */
function successOf({ ok, bad, missed }: Totals): number | undefined {
  const judged = ok + bad + missed;
  return judged === 0 ? undefined : ok / judged;
}

/** How much more or less than before: beyond a tenfold, how many times as much. */
function changeOf(ratio: number, f: Format): string {
  return ratio >= 10 ? `× ${f.number(Math.round(ratio))}` : f.percent(Math.abs(ratio - 1));
}

interface KpiProps {
  label: string;
  value: string;
  unit?: string;
  foot?: React.ReactNode;
  spark?: React.ReactNode;
  to: { range?: Range; from?: string; to?: string; status?: Status[]; cause?: Cause[] };
}

function Kpi({ label, value, unit, foot, spark, to }: KpiProps) {
  return (
    <Link to="/runs" search={to} className="kpi">
      <span className="l">{label}</span>
      <span className="v">
        {value}
        {unit && <small>{unit}</small>}
      </span>
      <span className="f">
        <span className="trunc">{foot || " "}</span>
        {spark}
      </span>
    </Link>
  );
}

function Delta({ text, up, tone, note }: { text: string; up: boolean; tone?: Tone; note?: string }) {
  const Icon = up ? ArrowUpRight : ArrowDownRight;
  return (
    <span className={`delta ${tone ? `c-${tone}` : ""}`}>
      <Icon size={14} aria-hidden />
      <span className="num">{text}</span> {note}
    </span>
  );
}
