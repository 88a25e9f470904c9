import { RadioTower } from "lucide-react";
import { useState } from "react";
import type { Reason, RunDetail, RunStep, RunWait } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { JobLink } from "@/components/JobName";
import { Ago, Clock } from "@/components/Time";
import { usePageWords } from "@/lib/format";
import { stateOf } from "@/lib/graph/document";
import { isAwaiting, isStepFinal } from "@/lib/graph/steps";
import { approvers, awaitedBy, momentOf, neededBy, waitAsSentence, waitInWords } from "@/lib/graph/wait";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { isLiving } from "@/lib/status";
import { Decide } from "@/shell/Decide";
import { useMay } from "@/shell/may";
import { SignalDialog } from "./SignalDialog";

interface WaitPartProps {
  detail: RunDetail;
  step: RunStep;
}

/** What a step waits for, or waited for, and what one can do about it. */
export function WaitPart({ detail, step }: WaitPartProps) {
  const words = usePageWords();
  const w = words.t.waits;
  const now = useNow();
  const wait = awaitedBy(step);
  if (!wait) return null;
  const awaiting = isAwaiting(stateOf(step));
  return (
    <section className="steppart">
      <h2>{w.heading}</h2>
      {awaiting ? (
        <p className="note info">{waitAsSentence(wait, now, words)}</p>
      ) : (
        <p>{waitInWords(wait, now, words)}</p>
      )}
      <dl className="dl">
        {wait.since && (
          <>
            <dt>{w.since}</dt>
            <dd>
              <Clock at={wait.since} />
            </dd>
          </>
        )}
        {wait.at && <Deadline name={w.isOver} at={wait.at} awaiting={awaiting} />}
        {wait.expires_at && <Deadline name={w.expires} at={wait.expires_at} awaiting={awaiting} />}
        {wait.key && (
          <>
            <dt>{w.key}</dt>
            <dd className="mono">{wait.key}</dd>
          </>
        )}
        {wait.kind === "approval" && <Approvers wait={wait} />}
        {wait.runs && <Awaited runs={wait.runs} missing={step.missing ?? []} />}
      </dl>
      {wait.kind === "approval" && awaiting && <Decide of={{ ...step, wait, run_id: detail.run_id }} />}
      {wait.signal && isLiving(detail.status) && !isStepFinal(step.state) && (
        <Signal detail={detail} signal={wait.signal} signalKey={wait.key} early={!awaiting} />
      )}
    </section>
  );
}

function Deadline({ name, at, awaiting }: { name: string; at: string; awaiting: boolean }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <Clock at={at} />
        {awaiting && (
          <p className="mut">
            <Ago at={at} />
          </p>
        )}
      </dd>
    </>
  );
}

/** Who may approve, and who has. */
function Approvers({ wait }: { wait: RunWait }) {
  const words = usePageWords();
  const w = words.t.waits;
  const given = wait.approvals ?? [];
  const of = neededBy(wait);
  return (
    <>
      <dt>{w.who}</dt>
      <dd>
        {words.t.waits.people(approvers(wait.by, words))}
        {wait.not_by_requester && <p className="mut">{w.notRequester}</p>}
      </dd>
      {(given.length > 0 || of > 1) && (
        <>
          <dt>{w.given}</dt>
          <dd>
            {of > 1 && <p className="num">{w.ofThem(given.length, of)}</p>}
            {given.map((a) => (
              <p key={a.by}>
                {a.by} <Clock at={a.at} /> {a.note && <span className="mut">{a.note}</span>}
              </p>
            ))}
          </dd>
        </>
      )}
    </>
  );
}

function Awaited({ runs, missing }: { runs: NonNullable<RunWait["runs"]>; missing: Reason[] }) {
  const words = usePageWords();
  const w = words.t.waits;
  const now = useNow();
  const { say } = useSayer();
  const { job, from, to, last, need } = runs;
  return (
    <>
      <dt>{w.awaited}</dt>
      <dd>
        <JobLink job={job} />
        {last !== undefined && last > 0 && <p>{w.lastFires(last)}</p>}
        {from && to && <p>{w.fires(momentOf(from, now, words), momentOf(to, now, words))}</p>}
        {need && need !== "all" && <p>{w.need(need)}</p>}
      </dd>
      {missing.length > 0 && (
        <>
          <dt>{w.missing}</dt>
          <dd>
            <ul>
              {missing.map((m) => (
                <li key={m.text}>{say(m)}</li>
              ))}
            </ul>
          </dd>
        </>
      )}
    </>
  );
}

interface SignalProps {
  detail: RunDetail;
  signal: string;
  signalKey: string | undefined;
  early: boolean;
}

function Signal({ detail, ...signal }: SignalProps) {
  const { t } = usePageWords();
  const [sending, setSending] = useState(false);
  const may = useMay();
  return (
    <div>
      <Button
        small
        icon={RadioTower}
        look={signal.early ? undefined : "primary"}
        may={may("operate", refOf(detail.job).group)}
        onClick={() => setSending(true)}
      >
        {t.waits.send}
      </Button>
      {sending && <SignalDialog {...signal} runId={detail.run_id} onClose={() => setSending(false)} />}
    </div>
  );
}
