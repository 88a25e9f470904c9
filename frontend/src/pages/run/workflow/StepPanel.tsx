import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ExternalLink, OctagonX, RotateCcw, X } from "lucide-react";
import { useState } from "react";
import { runQuery } from "@/api/runs";
import type { RunDetail, RunStep } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { StepIcon } from "@/components/graph/GraphBox";
import { StepState } from "@/components/graph/StepState";
import { JobLink } from "@/components/JobName";
import { Clock } from "@/components/Time";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { attemptOf, beganAt, calledBy, inEarlierRound, stateOf } from "@/lib/graph/document";
import { isRecoverable } from "@/lib/graph/rerun";
import { edgesOf, isAwaiting, isBad, isMet, isStepFinal } from "@/lib/graph/steps";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { isLiving } from "@/lib/status";
import { useMay } from "@/shell/may";
import { CancelDialog } from "../CancelDialog";
import { ExitCode, Json, Row, Why } from "../Row";
import { Recover } from "./Recover";
import { LogOfRun } from "./StepLog";
import { lastsOf } from "./StepTable";
import { WaitPart } from "./WaitPart";

interface StepPanelProps {
  detail: RunDetail;
  step: RunStep;
  /** Shows an earlier round of the step; by default the newest. */
  round: number | undefined;
  steps: RunStep[];
  onChoose(step: string): void;
  onRound(round: number | undefined): void;
  onClose(): void;
  /** Asks how the run is repeated from a step on. */
  onRerun(step: string): void;
}

/** One step of a run: its state and why, what decided it, what it was given and returned, and its log. */
export function StepPanel(props: StepPanelProps) {
  const { detail, step: newestRound, round, steps, onChoose, onRound, onClose, onRerun } = props;
  const { t } = usePageWords();
  const { say } = useSayer();
  const now = useNow();
  const [cancelling, setCancelling] = useState(false);
  const earlier = round === undefined ? undefined : newestRound.earlier_runs?.[round - 1];
  const runId = earlier ?? newestRound.run_id;
  const own = useQuery({ ...runQuery(runId ?? ""), enabled: runId !== undefined }).data;
  const step = earlier === undefined ? newestRound : inEarlierRound(newestRound, earlier, own);
  const called = calledBy(step);
  const job = called ?? detail.job; // that of the step's own run
  const may = useMay();
  const operates = may("operate", refOf(detail.job).group);
  const newest = own?.attempts[0];
  const state = stateOf(step);
  const waits = step.task === "wait";
  const why = isAwaiting(state) ? "" : say(step.message ?? step.reason);
  const took = lastsOf(step, now);
  const began = beganAt(step);
  const attempt = attemptOf(step);
  const living = step.run_id !== undefined && !isStepFinal(step.state);
  return (
    <aside className="details steppanel" aria-label={t.steps.panel(step.step)}>
      <section className="stephead">
        <div className="row g2">
          <StepIcon kind={step.task} />
          <h2 className="grow trunc">{step.title ?? step.step}</h2>
          <StepState state={state} pill />
          <RoundPicker
            step={newestRound}
            shown={earlier === undefined ? undefined : round}
            onRound={onRound}
          />
          <IconButton icon={X} label={t.act.close} onClick={onClose} />
        </div>
        <p className="row g2 wrap mut">
          {step.title && <span className="mono">{step.step}</span>}
          {called === undefined ? (
            step.detail && !waits && <span className="trunc">{step.detail}</span>
          ) : (
            <>
              {t.steps.calls} <JobLink job={called} />
            </>
          )}
          {step.finally && <span className="tag">{t.steps.finally}</span>}
          {step.may_fail && <span className="tag">{t.steps.mayFail}</span>}
        </p>
        <div className="row g2 wrap">
          {step.run_id && !waits && (
            <Link to="/runs/$runId" params={{ runId: step.run_id }} className="btn sm">
              <ExternalLink size={14} aria-hidden />
              {called === undefined ? t.steps.openRun : t.steps.openCalled}
            </Link>
          )}
          {living && (
            <Button
              small
              icon={OctagonX}
              look="danger"
              may={may("operate", refOf(job).group)}
              onClick={() => setCancelling(true)}
            >
              {t.steps.cancel}
            </Button>
          )}
          {earlier === undefined && isRecoverable(detail.status, step) && (
            <Recover runId={detail.run_id} step={step.step} may={operates} />
          )}
          {earlier === undefined && !isLiving(detail.status) && (
            <Button small icon={RotateCcw} may={operates} onClick={() => onRerun(step.step)}>
              {t.steps.rerunFrom}
            </Button>
          )}
        </div>
      </section>
      <Why title={isBad(step.state) ? t.run.error : t.run.reason} bad={isBad(step.state)} text={why} />
      {waits && earlier === undefined && <WaitPart detail={detail} step={step} />}
      {earlier === undefined && <Sources step={step} steps={steps} onChoose={onChoose} />}
      <section>
        <h2>{t.run.details}</h2>
        <dl className="dl">
          <Row name={t.run.executor}>{step.instance}</Row>
          <Row name={t.steps.columns.attempt} className="num">
            {attempt !== undefined && t.steps.attemptOf(attempt, Math.max(attempt, step.attempts ?? 1))}
          </Row>
          <Row name={t.run.pieces} className="num">
            {step.pieces !== undefined && t.steps.piecesEnded(step.pieces_ended ?? 0, step.pieces)}
          </Row>
          <Row name={t.run.started}>{began && !waits && <Clock at={began} />}</Row>
          <Row name={t.run.finished}>{step.finished_at && <Clock at={step.finished_at} />}</Row>
          <Row name={t.steps.columns.duration} className="num">
            {took !== undefined && formatDuration(step.finished_at ? took : Math.floor(took / 1000) * 1000)}
          </Row>
          <ExitCode name={t.run.exitCode} code={step.exit_code} />
        </dl>
      </section>
      <Json title={t.run.params} value={own?.params} />
      <Json title={t.run.result} value={newest?.result} />
      {step.run_id && newest?.started_at && (
        <section className="steplog">
          <LogOfRun runId={step.run_id} />
        </section>
      )}
      {cancelling && step.run_id && (
        <CancelDialog runId={step.run_id} job={job} onClose={() => setCancelling(false)} />
      )}
    </aside>
  );
}

/** Chooses one of the rounds of a step that was retried or resolved, or that follows such a one. */
function RoundPicker({
  step,
  shown,
  onRound,
}: {
  step: RunStep;
  shown: number | undefined;
  onRound(round: number | undefined): void;
}) {
  const { t } = usePageWords();
  const rounds = (step.earlier_runs?.length ?? 0) + 1;
  if (rounds === 1) return null;
  return (
    <select
      aria-label={t.steps.rounds}
      value={shown ?? rounds}
      onChange={(e) => onRound(Number(e.target.value) === rounds ? undefined : Number(e.target.value))}
    >
      {Array.from({ length: rounds }, (_, i) => i + 1).map((n) => (
        <option key={n} value={n}>
          {t.steps.round(n)}
        </option>
      ))}
    </select>
  );
}

/** What the step comes after, and whether each of these let it run. */
function Sources({ step, steps, onChoose }: Pick<StepPanelProps, "step" | "steps" | "onChoose">) {
  const { t } = usePageWords();
  const after = edgesOf(step.after);
  if (after.length === 0 && !step.if) return null;
  const states = new Map(steps.map((s) => [s.step, stateOf(s)]));
  return (
    <section>
      <h2>
        {t.steps.columns.after}
        {step.join && step.join !== "all" && <span className="right tag">{t.steps.join(step.join)}</span>}
      </h2>
      <ul className="stepsources">
        {after.map((e) => {
          const state = states.get(e.step);
          const met = isMet(e.on, state);
          return (
            <li key={`${e.step} ${e.on}`} className="row g2">
              <button type="button" className="stepname linked trunc" onClick={() => onChoose(e.step)}>
                {e.step}
              </button>
              <span className="mut nowrap">{t.steps.on[e.on]}</span>
              <span className="right row g2">
                {met === false && <span className="c-warn nowrap">{t.steps.unmet}</span>}
                {state && <StepState state={state} />}
              </span>
            </li>
          );
        })}
      </ul>
      {step.if && (
        <p>
          {t.steps.condition} <code className="mono">{step.if}</code>
        </p>
      )}
    </section>
  );
}
