import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ArrowDownRight, ArrowUpRight, CirclePause, CirclePlay, ListFilter, Plus } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { groupsQuery, holdQuery } from "@/api/cluster";
import { jobCount } from "@/api/jobs";
import { areOf, chartParts, overviewQueries, presentQueries, scheduledCauses } from "@/api/overview";
import { latestRuns } from "@/api/runs";
import type { Cause, Status } from "@/api/schema.gen";
import { IconButton } from "@/components/Button";
import { Skeleton } from "@/components/Panel";
import { Spark } from "@/components/Spark";
import { formatDuration } from "@/lib/duration";
import { type Format, useWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { addTotals, type Totals, totalsOf } from "@/lib/ranges";
import { isScoped, type Scope } from "@/lib/scope";
import { failures, living, type Tone } from "@/lib/status";
import { chartOf, isLength, type RangeSearch } from "@/lib/timerange";
import { useShell } from "@/shell/context";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import { useRange } from "@/shell/useRange";
import { type Scoped, useScope } from "@/shell/useScope";
import { Attention } from "./Attention";
import { useInFlight } from "./inflight";
import { RunningNow } from "./RunningNow";
import { RunsChart } from "./RunsChart";
import { UpNext } from "./UpNext";

const Reports = lazy(() => import("@/pages/reports/Reports"));
const Proof = lazy(() => import("./Proof"));
const ScopeChips = lazy(() => import("@/shell/ScopeChips"));
const Guide = lazy(() => import("./Guide"));
const WhyForm = lazy(() => import("@/shell/WhyForm").then((m) => ({ default: m.WhyForm })));

/** An installation with so few jobs, none of which has run, is a new one. */
const fewJobs = 3;

/** Is anything wrong, what is running, what fires next. */
export default function OverviewPage() {
  const { t } = useWords();
  const navigate = useNavigate({ from: "/" });
  const search = useSearch({ from: "/" });
  const { scope, choose } = useScope(
    search,
    (next) => void navigate({ search: (was) => ({ ...was, ...next }) }),
  );
  const of = { ...useRange(search), scope };
  const [narrowing, setNarrowing] = useState(false);
  const jobs = useQuery(jobCount({})).data;
  const isSmall = jobs !== undefined && jobs <= fewJobs;
  const ran = useQuery({ ...latestRuns({}, 1), enabled: isSmall && jobs > 0 }).data?.items.length;
  // Whoever is being shown the way sees it to its end.
  const isFresh = jobs === 0 || (isSmall && ran === 0);
  const [guided, setGuided] = useState(false);
  if (isFresh && !guided) setGuided(true);
  const may = useMay();
  const { openEverything } = useShell();
  const hold = useQuery(holdQuery).data;
  return (
    <Page
      crumbs={[{ text: t.overview.title }]}
      actions={
        <>
          {!guided && (
            <IconButton
              icon={ListFilter}
              label={t.overview.narrow}
              aria-pressed={narrowing || isScoped(scope)}
              onClick={() => setNarrowing((is) => !is)}
            />
          )}
          <Link to="/reports/month" search={scope} className="btn sm hide-s">
            {t.overview.month}
          </Link>
          <RangePicker
            of={of}
            onChange={(next) => void navigate({ search: (was) => ({ ...was, ...next }) })}
          />
          {hold && may("operate", "*") && (
            <IconButton
              icon={hold.paused ? CirclePlay : CirclePause}
              label={hold.paused ? t.overview.resumeAll : t.overview.pauseAll}
              onClick={openEverything}
            />
          )}
          {may("edit") && (
            <Link to="/jobs/new" className="btn pri hide-s">
              <Plus size={14} aria-hidden />
              {t.act.newJob}
            </Link>
          )}
        </>
      }
      head={
        (narrowing || isScoped(scope)) && (
          <div className="filters">
            <Suspense fallback={<span className="fchip">…</span>}>
              <ScopeChips scope={scope} onChange={choose} />
            </Suspense>
          </div>
        )
      }
    >
      <RangeNote of={of} />
      <div className="pad">
        {guided && jobs !== undefined ? (
          <Suspense fallback={<Skeleton rows={6} />}>
            <Guide jobs={jobs} onDone={() => setGuided(false)} />
          </Suspense>
        ) : (
          <Figures of={of} />
        )}
      </div>
    </Page>
  );
}

function Figures({ of }: { of: Scoped }) {
  return (
    <>
      <Top of={of} />
      <div className="grid over-2 steady">
        <RunningNow of={of} />
        <UpNext scope={of.scope} />
      </div>
      <Suspense fallback={<Skeleton rows={6} />}>
        <Reports of={of} />
      </Suspense>
    </>
  );
}

function Top({ of }: { of: Scoped }) {
  const { range, firstDay, scope } = of;
  const search = { ...of.search, ...scope };
  const { t, f } = useWords();
  const now = useNow();
  const asked = overviewQueries(range, { now, firstDay }, scope);
  const past = useQuery(asked.past);
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const failingNow = useQuery(presentQueries(now, scope).failing).data?.total;

  const reports = useQuery(asked.reports).data;
  const fired = reports?.total.committed_after;
  const started = reports?.total.started_after;
  const totals = past.data?.items.map(totalsOf) ?? [];
  const sum = addTotals(totals);
  // Asked for last: the figures themselves come first.
  const before = useQuery({
    ...asked.before,
    enabled: past.data !== undefined && !past.isPlaceholderData,
  }).data;
  const compared =
    past.data && before && areOf(past.data, chartOf(range, chartParts)) && areOf(before, asked.compared)
      ? before
      : undefined;
  const was = compared && addTotals(compared.items.map(totalsOf));
  const ended = sum.ok + sum.bad;
  // Where no schedule asks for runs, success is that of all.
  const scheduled = addTotals(past.data?.scheduled.map(totalsOf) ?? []);
  const ofSchedules = past.data && successOf(scheduled);
  const success = ofSchedules ?? successOf(sum);
  const wasSuccess =
    compared && ofSchedules !== undefined
      ? successOf(addTotals(compared.scheduled.map(totalsOf)))
      : was && successOf(was);
  // An executor works for all owners and tags of its group.
  const theirs =
    scope.owner || scope.tag ? [] : groups.filter((g) => !scope.group || g.executor_group === scope.group);
  const slots = theirs.flatMap((g) => g.instances).reduce((n, i) => n + i.slots, 0);
  const { running, waiting, queued } = useInFlight(reports?.alive, scope);
  const coarse = coarser(totals);
  const judged = past.data && ofSchedules !== undefined ? coarser(past.data.scheduled.map(totalsOf)) : coarse;
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
                note={isLength(range.name) ? t.overview.versus(range.name) : t.overview.versusBefore}
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
            success !== undefined && (
              <>
                {wasSuccess !== undefined && (
                  <Delta
                    text={`${(Math.abs(success - wasSuccess) * 100).toFixed(2)} ${t.overview.points}`}
                    up={success >= wasSuccess}
                    tone={
                      Math.abs(success - wasSuccess) < 0.0005
                        ? undefined
                        : success > wasSuccess
                          ? "ok"
                          : "bad"
                    }
                  />
                )}{" "}
                {ofSchedules === undefined
                  ? t.overview.ofRuns(f.number(judgedOf(sum)))
                  : t.overview.ofScheduled(f.number(judgedOf(scheduled)))}
              </>
            )
          }
          spark={<Spark tone="ok" values={judged.map((c) => successOf(c) ?? 1)} />}
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
          foot={t.overview.waiting(waiting, queued)}
          to={{ ...(range.isOpen && search), ...scope, status: living }}
        />
        <Kpi
          label={t.overview.firedLate}
          value={fired?.count ? formatDuration(fired.p99_ms) : "—"}
          foot={[
            started?.count && t.overview.waited(formatDuration(started.p99_ms)),
            (sum.absent > 0 || !started?.count) && t.overview.absent(sum.absent),
          ]
            .filter(Boolean)
            .join(" · ")}
          spark={<Spark tone="idle" values={reports?.trend.map((row) => row.committed_after.p95_ms) ?? []} />}
          to={{ ...search, status: ["skipped", "missed"] }}
        />
      </div>
      <Suspense fallback={<Skeleton rows={1} />}>
        <Proof of={of} />
      </Suspense>
      <Suspense fallback={<Skeleton rows={1} />}>
        <WhyForm />
      </Suspense>
      <div className="grid over-2">
        <RunsChart of={of} />
        <Attention scope={scope} />
      </div>
    </>
  );
}

/** Four parts of the chart in one: sparks have no room for more. */
const coarser = (totals: Totals[]): Totals[] =>
  Array.from({ length: totals.length / 4 }, (_, i) => addTotals(totals.slice(i * 4, i * 4 + 4)));

/** The share of the fires that went well, of those that did or did not; undefined of none. */
function successOf({ ok, bad, missed }: Totals): number | undefined {
  const judged = judgedOf({ ok, bad, missed });
  return judged === 0 ? undefined : ok / judged;
}

/** Of how many fires a success rate is: of those that went well, and of those that did not. */
const judgedOf = ({ ok, bad, missed }: Pick<Totals, "ok" | "bad" | "missed">) => ok + bad + missed;

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
  to: RangeSearch & Scope & { status?: Status[]; cause?: Cause[] };
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
        <span>{foot || " "}</span>
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
