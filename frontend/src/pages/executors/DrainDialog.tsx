import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { breakdownQuery } from "@/api/reports";
import { latestRuns } from "@/api/runs";
import type { Instance } from "@/api/schema.gen";
import { Choice, DurationField } from "@/components/fields";
import { JobTitle } from "@/components/JobTitle";
import { Elapsed } from "@/components/Time";
import { usePageT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { drainTime } from "@/lib/drain";
import { formatDuration, parseDuration } from "@/lib/duration";
import { shortId } from "@/lib/ids";
import { useNow } from "@/lib/now";
import { lastDays } from "@/lib/ranges";
import { AskDialog } from "@/shell/AskDialog";

/** So many runs are named; of more there is the number. */
const named = 8;

const choices = ["", "5m", "30m", "2h", "8h", "own"] as const;
type DrainChoice = (typeof choices)[number];

interface DrainDialogProps {
  instance: Instance;
  /** within is a length of time such as 30m, if there is a limit. */
  onDrain(within: string | undefined): Promise<unknown>;
  onClose(): void;
}

/** Says what an instance still has to finish, before it is told to leave. */
export function DrainDialog({ instance: i, onDrain, onClose }: DrainDialogProps) {
  const t = usePageT();
  const runs = useQuery(
    latestRuns({ instance: i.instance, group: i.executor_group, status: ["running"] }, 100),
  );
  const items = runs.data?.items ?? [];
  const range = lastDays(useNow(), 7);
  const usual = useQuery(breakdownQuery("job", { group: i.executor_group }, range, "runs")).data?.items ?? [];
  const p95 = new Map(usual.map((row) => [row.job ?? "", row.duration.p95_ms]));
  const [choice, setChoice] = useState<DrainChoice>("");
  const [own, setOwn] = useState<string>();
  const within = choice === "own" ? own : choice || undefined;
  const now = serverNow();
  const { longest, unknown } = drainTime(
    items.map((r) => ({ job: r.job, elapsed: now - Date.parse(r.started_at ?? r.fire_time) })),
    p95,
  );
  return (
    <AskDialog
      title={t.fleet.drainAsk(i.instance)}
      hint={t.fleet.drainHint}
      verb={t.fleet.drain}
      mild
      disabled={choice === "own" && (own === undefined || !parseDuration(own))}
      act={() => onDrain(within)}
      onClose={onClose}
    >
      <p className="sec">{t.fleet.drainRuns(Math.max(i.running, items.length))}</p>
      {items.length > 0 && (
        <p className="sec">
          {longest > 0 && t.fleet.drainTime(formatDuration(Math.ceil(longest / 1000) * 1000))}{" "}
          {unknown > 0 && t.fleet.drainUnknown(unknown)}
        </p>
      )}
      {items.length > 0 && (
        <ul className="names">
          {items.slice(0, named).map((r) => (
            <li key={r.run_id}>
              <JobTitle job={r.job} keyed className="grow trunc" />
              <span className="mono mut">{shortId(r.run_id)}</span>
              {r.started_at && <Elapsed since={r.started_at} />}
            </li>
          ))}
        </ul>
      )}
      <Choice
        label={t.fleet.drainWithin}
        value={choice}
        options={choices.map((value) => ({ value, label: t.fleet.drainChoices[value] }))}
        onChange={(value) => setChoice(value)}
        hint={choice === "" ? undefined : t.fleet.drainWithinHint}
      />
      {choice === "own" && (
        <DurationField label={t.fleet.drainOwn} value={own} placeholder="45m" onChange={setOwn} />
      )}
    </AskDialog>
  );
}
