import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { BookCheck, History } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { jobLedger } from "@/api/ledger";
import type { Job, Outcome as OutcomeOf } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { More } from "@/components/More";
import { Card, Empty } from "@/components/Panel";
import { Table } from "@/components/Table";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { runsElsewhere } from "@/lib/elsewhere";
import { refOf } from "@/lib/jobref";
import { longestLedger } from "@/lib/tally";
import Backfills from "@/pages/backfill/Backfills";
import { outcomes } from "@/pages/ledger/Outcome";
import { useMay } from "@/shell/may";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import { useRange } from "@/shell/useRange";
import { LedgerRow } from "./LedgerRow";

const BackfillDialog = lazy(() => import("@/pages/backfill/BackfillDialog"));

/** Which fires a backfill is for, of those that are looked at. */
const usual = (outcome: OutcomeOf[]) =>
  outcome.length === 1 && outcome[0] === "skipped" ? "skipped" : "missed";

/** Every fire that the job owed, and what became of it. */
export default function LedgerTab({ job: definition, zone }: { job: Job; zone: string }) {
  const t = usePageT();
  const { job } = definition;
  const navigate = useNavigate();
  const ranged = useRange(useSearch({ strict: false }), { longest: longestLedger });
  const operates = useMay()("operate", refOf(job).group);
  const [filling, setFilling] = useState(false);
  const [outcome, setOutcome] = useState<OutcomeOf[]>([]);
  const list = useInfiniteQuery(
    jobLedger(refOf(job), ranged.window, outcome.length === 0 ? undefined : outcome),
  );
  const entries = list.data?.pages.flatMap((p) => p.items) ?? [];
  const opens = entries.some((e) => e.steps?.length);
  const opener = (
    <th key="opener" className="opener">
      <span className="sr">{t.ledger.steps}</span>
    </th>
  );
  return (
    <div className="pad grid">
      <RangeNote of={ranged} />
      <Backfills job={job} />
      <Card
        title={t.job.tabs.ledger}
        note={t.ledger.hint}
        aside={
          <>
            <FilterChip
              name={t.ledger.outcome}
              multiple
              options={outcomes.map((x) => ({ value: x, label: t.ledger.outcomes[x] }))}
              chosen={outcome}
              onChange={setOutcome}
            />
            <RangePicker
              of={ranged}
              jobZone={zone}
              onChange={(search) =>
                void navigate({
                  to: "/jobs/$group/$name/$tab",
                  params: { ...refOf(job), tab: "ledger" },
                  search,
                  replace: true,
                })
              }
            />
            {!runsElsewhere(definition) && (
              <Button small icon={History} may={operates} onClick={() => setFilling(true)}>
                {t.act.backfill}
              </Button>
            )}
          </>
        }
      >
        {!list.data ? (
          <Waiting on={list} />
        ) : entries.length === 0 ? (
          <Empty icon={BookCheck} title={t.ledger.none} />
        ) : (
          <Table
            heads={[
              ...(opens ? [opener] : []),
              t.ledger.fire,
              t.ledger.outcome,
              t.runs.columns.status,
              t.runs.columns.run,
              { right: t.ledger.late },
              t.ledger.reason,
            ]}
            compact
          >
            {entries.map((e) => (
              <LedgerRow key={`${e.fire_time} ${e.run_id}`} entry={e} opens={opens} />
            ))}
          </Table>
        )}
      </Card>
      <More of={list} />
      {filling && (
        <Suspense>
          <BackfillDialog
            job={job}
            of={ranged.range}
            only={usual(outcome)}
            onClose={() => setFilling(false)}
          />
        </Suspense>
      )}
    </div>
  );
}
