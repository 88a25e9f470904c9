import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { BookCheck, CircleCheck, History, TriangleAlert } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { ledgerAudit } from "@/api/ledger";
import type { Tally } from "@/api/schema.gen";
import { IconButton } from "@/components/Button";
import { JobTitle } from "@/components/JobTitle";
import { Kpi } from "@/components/Kpi";
import { More } from "@/components/More";
import { Card, Empty } from "@/components/Panel";
import { Table } from "@/components/Table";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { addTallies, byJob, type JobTally, longestLedger } from "@/lib/tally";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import ScopeChips from "@/shell/ScopeChips";
import { useRange } from "@/shell/useRange";
import { useScope } from "@/shell/useScope";
import { Found } from "./Found";
import { Outcome } from "./Outcome";

const BackfillDialog = lazy(() => import("@/pages/backfill/BackfillDialog"));

/** What schedules owed against what was done, for all jobs. */
export default function LedgerPage() {
  const t = usePageT();
  const { say } = useSayer();
  const f = useFormat();
  const now = useNow();
  const navigate = useNavigate({ from: "/ledger" });
  const search = useSearch({ from: "/ledger" });
  const set = (next: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...next }), replace: true });
  const { scope, choose } = useScope(search, set);
  const ranged = useRange(search, { longest: longestLedger, within: scope });
  const [filling, setFilling] = useState<string>();
  const list = useInfiniteQuery(ledgerAudit({ ...ranged.window, ...scope }));
  const pages = list.data?.pages ?? [];
  const jobs = byJob(pages.flatMap((p) => p.items));
  const findings = pages.flatMap((p) => p.discrepancies);
  const total = pages.map((p) => p.total).reduce(addTallies, { fires: 0 });
  // Of further pages nothing is known yet.
  const part = list.hasNextPage;
  const shown = (n: number) => (part ? `${f.number(n)}+` : f.number(n));
  const decided = pages.map((p) => p.decided_until).sort()[0];
  return (
    <Page
      crumbs={[{ text: t.nav.ledger }]}
      actions={
        <>
          <Link to="/backfills" className="btn sm">
            {t.bulkBackfill.title}
          </Link>
          <RangePicker of={ranged} onChange={set} />
        </>
      }
      head={
        <div className="filters">
          <ScopeChips scope={scope} onChange={choose} />
        </div>
      }
    >
      <RangeNote of={ranged} />
      {!list.data ? (
        <Waiting on={list} rows={12} />
      ) : (
        <div className={list.isPlaceholderData ? "pad stale" : "pad"}>
          <div className="kpis four">
            <Kpi
              label={t.ledger.fires}
              value={shown(total.fires)}
              foot={(part ? t.ledger.soFar : t.joblist.total)(jobs.length)}
            />
            <Kpi
              label={t.ledger.ran}
              value={shown((total.ran ?? 0) + (total.caught_up ?? 0) + (total.reported ?? 0))}
              foot={`${f.number(total.failed ?? 0)} ${t.ledger.failed}`}
            />
            <Kpi
              label={t.ledger.absent}
              value={shown((total.skipped ?? 0) + (total.missed ?? 0))}
              foot={`${f.number(total.missed ?? 0)} ${t.ledger.outcomes.missed}`}
            />
            <Kpi
              label={t.ledger.wrong}
              value={shown(total.discrepancies ?? 0)}
              bad={(total.discrepancies ?? 0) > 0}
              foot={decided && `${t.ledger.decided} ${f.short(decided, now)}`}
            />
          </div>
          <div className="grid">
            {total.fires > 0 &&
              (findings.length === 0 ? (
                <p className="note good">
                  <CircleCheck size={15} aria-hidden />
                  {part ? t.ledger.allWellSoFar : t.ledger.allWell}
                </p>
              ) : (
                <Card title={t.ledger.findings(findings.length)}>
                  <ul className="list">
                    {findings.map((x) => (
                      <li key={`${x.job} ${x.fire_time}`} className="li">
                        <TriangleAlert size={15} className="c-bad" aria-hidden />
                        <Link to="/jobs/$group/$name" params={refOf(x.job)} className="name">
                          <JobTitle job={x.job} keyed />
                        </Link>
                        <span className="num mut">{f.short(x.fire_time, now)}</span>
                        <span className="sec grow trunc">{say(x.reason)}</span>
                        <Outcome outcome={x.outcome} />
                      </li>
                    ))}
                  </ul>
                </Card>
              ))}
            <Found range={ranged.window} scope={scope} />
            {jobs.length === 0 ? (
              <Empty icon={BookCheck} title={t.ledger.none} hint={t.ledger.noneHint} />
            ) : (
              <Card>
                <Jobs jobs={jobs} onBackfill={setFilling} />
              </Card>
            )}
          </div>
          {filling && (
            <Suspense>
              <BackfillDialog
                job={filling}
                of={ranged.range}
                only={gravest(jobs.find((j) => j.job === filling)?.total)}
                onClose={() => setFilling(undefined)}
              />
            </Suspense>
          )}
          <More of={list} />
        </div>
      )}
    </Page>
  );
}

function Jobs({ jobs, onBackfill }: { jobs: JobTally[]; onBackfill(job: string): void }) {
  const t = usePageT();
  const may = useMay();
  const f = useFormat().in("UTC");
  const days = [...new Set(jobs.flatMap((j) => [...j.days.keys()]))].sort();
  const cell = (n: number | undefined, tone = "") => (
    <td className={`r num ${n ? tone : "mut"}`}>{n ? f.number(n) : "0"}</td>
  );
  return (
    <Table
      heads={[
        t.ledger.job,
        t.ledger.days,
        { right: t.ledger.fires },
        { right: t.ledger.outcomes.ran },
        { right: t.ledger.outcomes.caught_up },
        { right: t.ledger.outcomes.skipped },
        { right: t.ledger.outcomes.missed },
        { right: t.ledger.outcomes.pending },
        { right: t.ledger.wrong },
      ]}
      actions={t.act.backfill}
      compact
      className="ledger"
    >
      {jobs.map((j) => (
        <tr key={j.job}>
          <td>
            <Link to="/jobs/$group/$name/$tab" params={{ ...refOf(j.job), tab: "ledger" }} className="name">
              <JobTitle job={j.job} keyed />
            </Link>
          </td>
          <td>
            <span className="ledgerdays">
              {days.map((day) => {
                const tally = j.days.get(day);
                const wrong = (tally?.discrepancies ?? 0) + (tally?.missed ?? 0);
                return (
                  <i
                    key={day}
                    className={toneOf(tally)}
                    title={t.ledger.day(f.day(day), tally?.fires ?? 0, wrong)}
                  />
                );
              })}
            </span>
          </td>
          <td className="r num">{f.number(j.total.fires)}</td>
          {cell((j.total.ran ?? 0) + (j.total.reported ?? 0))}
          {cell(j.total.caught_up, "c-warn")}
          {cell(j.total.skipped)}
          {cell(j.total.missed, "c-warn")}
          {cell((j.total.pending ?? 0) + (j.total.undecided ?? 0))}
          {cell(j.total.discrepancies, "c-bad")}
          <td className="r">
            {may("operate", refOf(j.job).group) && leftOver(j.total) > 0 && !j.total.reported && (
              <IconButton
                icon={History}
                size={14}
                label={`${t.act.backfill} ${j.job}`}
                onClick={() => onBackfill(j.job)}
              />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** How many fires a backfill may be for. */
const leftOver = (tally: Tally) => (tally.missed ?? 0) + (tally.skipped ?? 0) + (tally.failed ?? 0);

/** What there is the most to run of. */
function gravest(tally: Tally | undefined): "missed" | "skipped" | "failed" {
  if (tally?.missed) return "missed";
  return tally?.failed ? "failed" : "skipped";
}

/** The gravest of what became of a day's fires. */
function toneOf(tally: Tally | undefined): string {
  if (!tally || tally.fires === 0) return "";
  if (tally.discrepancies) return "b-bad";
  if (tally.missed) return "b-warn";
  if (tally.failed) return "b-time";
  return tally.ran || tally.caught_up || tally.reported ? "b-ok" : "b-idle";
}
