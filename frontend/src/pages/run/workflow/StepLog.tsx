import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { runQuery } from "@/api/runs";
import type { RunStep } from "@/api/schema.gen";
import { useStateWord } from "@/components/graph/StepState";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { isBad } from "@/lib/graph/steps";
import { LogPanel } from "../LogPanel";

interface StepLogProps {
  steps: RunStep[];
  chosen: string | undefined;
  onChoose(step: string): void;
  /** What stands first in the bar. */
  children?: ReactNode;
}

/** The log of one step of a run: the chosen one, else the first that failed, runs or ran. */
export function StepLog({ steps, chosen, onChoose, children }: StepLogProps) {
  const t = usePageT();
  const word = useStateWord();
  const ran = steps.filter((s) => s.run_id !== undefined && s.task !== "wait");
  const one =
    ran.find((s) => s.step === chosen) ??
    ran.find((s) => isBad(s.state)) ??
    ran.find((s) => s.state === "running") ??
    ran[0];
  const picker = (
    <select
      className="steppick"
      aria-label={t.steps.logOf}
      value={one?.step ?? ""}
      onChange={(e) => onChoose(e.target.value)}
    >
      {ran.map((s) => (
        <option key={s.step} value={s.step}>
          {s.step} · {word(s.state)}
        </option>
      ))}
    </select>
  );
  if (!one?.run_id)
    return (
      <>
        <div className="logbar">{children}</div>
        <p className="note info steps-none">{t.steps.noneYet}</p>
      </>
    );
  return (
    <LogOfRun key={one.run_id} runId={one.run_id}>
      {children}
      {picker}
    </LogOfRun>
  );
}

/** The log of the newest attempt of a step's run. */
export function LogOfRun({ runId, children }: { runId: string; children?: ReactNode }) {
  const query = useQuery(runQuery(runId));
  const newest = query.data?.attempts[0];
  if (!newest)
    return (
      <>
        <div className="logbar">{children}</div>
        <Waiting on={query} rows={6} />
      </>
    );
  return (
    <LogPanel key={newest.attempt} run={newest}>
      {children}
    </LogPanel>
  );
}
