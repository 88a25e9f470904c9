import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Ban, Pause, Play, RotateCcw } from "lucide-react";
import { useState } from "react";
import {
  type BackfillAct,
  bulkBackfillQuery,
  bulkBackfillsKey,
  changeBulkBackfill,
} from "@/api/bulkbackfill";
import type { BulkBackfill, BulkBackfillJob } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { TextField } from "@/components/fields";
import { JobTitle } from "@/components/JobTitle";
import { Kpi } from "@/components/Kpi";
import { Card } from "@/components/Panel";
import { ShareBar } from "@/components/ShareBar";
import { Table } from "@/components/Table";
import { Clock } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { totals } from "@/lib/bulkbackfill";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useSayer } from "@/lib/reason";
import { failures } from "@/lib/status";
import { AskDialog } from "@/shell/AskDialog";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { BulkState, PartState } from "./BulkState";
import { Period } from "./Period";

/** A backfill of many jobs: how each job stands, what can be done, and who did what. */
export default function BackfillPage() {
  const { t, f } = usePageWords();
  const b = t.bulkBackfill;
  const { backfill } = useParams({ from: "/backfills/$backfill" });
  const query = useQuery(bulkBackfillQuery(backfill));
  const x = query.data;
  const crumbs = [
    { text: t.nav.ledger, to: "/ledger" as const },
    { text: b.title, to: "/backfills" as const },
    { text: x?.name ?? backfill },
  ];
  if (!x)
    return (
      <Page crumbs={crumbs}>
        <Waiting on={query} rows={10} />
      </Page>
    );
  const sum = totals(x.jobs);
  return (
    <Page crumbs={crumbs} actions={<Acts of={x} />}>
      <div className="pad">
        <div className="kpis four">
          <Kpi label={b.progress} value={t.backfill.keep(sum.begun, sum.fires)} foot={<BulkState of={x} />} />
          <Kpi label={b.alive} value={f.number(sum.alive)} foot={`${b.atOnce}: ${f.number(x.at_once)}`} />
          <Kpi label={b.succeeded} value={f.number(sum.succeeded)} />
          <Kpi label={b.failed} value={f.number(sum.failed)} bad={sum.failed > 0} />
        </div>
        <div className="grid">
          <Card
            title={b.jobs}
            note={
              <>
                {t.backfill.only[x.only]} · <Period from={x.from} to={x.to} />
              </>
            }
          >
            <Table
              heads={[
                b.job,
                b.state,
                b.progress,
                { right: b.alive },
                { right: b.succeeded },
                { right: b.failed },
                b.why,
              ]}
              className="bulkjobs"
            >
              {x.jobs.map((j) => (
                <Part key={j.job} of={j} from={x.from} to={x.to} />
              ))}
            </Table>
          </Card>
          <Card title={b.history}>
            <ul className="list">
              {x.events.map((e) => (
                <li key={`${e.at} ${e.act}`} className="li">
                  <Clock at={e.at} className="num mut" />
                  <span>{b.events[e.act]}</span>
                  <span className="sec">{e.by}</span>
                  <span className="mut grow trunc" dir="auto">
                    {e.note}
                  </span>
                </li>
              ))}
            </ul>
          </Card>
        </div>
      </div>
    </Page>
  );
}

/** A job of it, with a way to its runs that failed. */
function Part({ of, from, to }: { of: BulkBackfillJob; from: string; to: string }) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const failed = of.failed ?? 0;
  return (
    <tr>
      <td>
        <Link to="/jobs/$group/$name" params={refOf(of.job)} className="name">
          <JobTitle job={of.job} keyed />
        </Link>
      </td>
      <td>
        <PartState state={of.state} />
      </td>
      <td>
        <span className="row g2">
          <ShareBar share={Math.min(1, of.begun / Math.max(1, of.fires))} />
          <span className="num nowrap">{t.backfill.keep(of.begun, of.fires)}</span>
          {of.round > 1 && <span className="mut nowrap">{t.bulkBackfill.round(of.round)}</span>}
        </span>
      </td>
      <td className="r num">{f.number(of.alive ?? 0)}</td>
      <td className="r num">{f.number(of.succeeded ?? 0)}</td>
      <td className="r num">
        {failed > 0 ? (
          <Link
            to="/runs"
            search={{ job: [of.job], cause: ["backfill"], status: failures, from, to }}
            className="link c-bad"
          >
            {f.number(failed)}
          </Link>
        ) : (
          <span className="mut">0</span>
        )}
      </td>
      <td className="sec">{say(of.why)}</td>
    </tr>
  );
}

/** What can be done with it, by whoever is an operator of the groups of all its jobs. */
function Acts({ of }: { of: BulkBackfill }) {
  const t = usePageT();
  const b = t.bulkBackfill;
  const client = useQueryClient();
  const operates = useMay();
  const [act, setAct] = useState<BackfillAct>();
  const [note, setNote] = useState("");
  const may = of.jobs.every((j) => operates("operate", refOf(j.job).group));
  const open = !of.ended_at && !of.cancelled;
  const again =
    !of.cancelled &&
    of.jobs.some((j) => j.state === "refused" || (j.state === "done" && (j.failed ?? 0) > 0));
  const choose = (next: BackfillAct) => {
    setNote("");
    setAct(next);
  };
  return (
    <>
      {again && (
        <Button small icon={RotateCcw} may={may} onClick={() => choose("retry")}>
          {b.retry}
        </Button>
      )}
      {open &&
        (of.paused ? (
          <Button small icon={Play} may={may} onClick={() => choose("resume")}>
            {b.resume}
          </Button>
        ) : (
          <Button small icon={Pause} may={may} onClick={() => choose("pause")}>
            {b.pause}
          </Button>
        ))}
      {open && (
        <Button small icon={Ban} look="danger" may={may} onClick={() => choose("cancel")}>
          {b.cancel}
        </Button>
      )}
      {act && (
        <AskDialog
          title={b.ask[act]}
          hint={b.askHint[act]}
          verb={act === "cancel" ? t.backfill.cancelVerb : b[act]}
          mild={act !== "cancel"}
          act={() => changeBulkBackfill(of.id, act, note)}
          onDone={(now) => {
            client.setQueryData(bulkBackfillQuery(of.id).queryKey, now);
            void client.invalidateQueries({ queryKey: bulkBackfillsKey });
          }}
          onClose={() => setAct(undefined)}
        >
          <TextField label={b.note} optional value={note} maxLength={500} onChange={setNote} />
        </AskDialog>
      )}
    </>
  );
}
