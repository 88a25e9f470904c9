import type { StepWait } from "@/api/schema.gen";
import { Check, Choice, DurationField, Lines, NumberField, TextField } from "@/components/fields";
import { SegmentsField } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { type WaitField, waitKindOf, waitKinds } from "@/lib/graph/wait";
import { JobName } from "@/shell/JobNameField";
import { without } from "./Section";

interface WaitFieldsProps {
  wait: StepWait;
  /** What is wrong, by the path of the field from the step on. */
  errors: ReadonlyMap<string, string>;
  onChange(wait: StepWait): void;
}

/** The fields of each kind, below which what is wrong with them is said. */
const fields: Record<WaitField, string[]> = {
  for: ["for"],
  until: ["until"],
  signal: ["signal", "key", "expires"],
  approval: ["approval.by", "approval.min", "approval.not_by_requester", "expires"],
  runs: ["runs.job", "runs.from", "runs.to", "runs.last", "runs.need", "runs.skipped", "expires"],
};

/** A wait of another kind. After how long it ends unmet stays where that goes with it. */
export function toWait(kind: WaitField, { expires }: StepWait): StepWait {
  const limit = expires === undefined ? {} : { expires };
  switch (kind) {
    case "for":
      return { for: "" };
    case "until":
      return { until: "" };
    case "signal":
      return { signal: "", ...limit };
    case "approval":
      return { approval: {}, ...limit };
    case "runs":
      return { runs: { job: "", last: 1 }, ...limit };
  }
}

/** The field of an error within wait, without places in lists; undefined of an error of something else. */
const fieldOf = (path: string): string | undefined => /^wait\b\.?(.*)$/.exec(path)?.[1]?.replace(/\[.*$/, "");

/** What a step waits for, in the place of a task. */
export function WaitFields({ wait, errors, onChange }: WaitFieldsProps) {
  const e = usePageT().waits.edit;
  const kind = waitKindOf(wait) ?? "for";
  const found = [...errors].flatMap(([path, reason]) => {
    const field = fieldOf(path);
    return field === undefined ? [] : [[field, reason] as const];
  });
  const wrong = (field: string) => found.find(([at]) => at === field)?.[1];
  const part: PartProps = { wait, wrong, onChange };
  return (
    <>
      <SegmentsField
        label={e.kind}
        value={kind}
        options={waitKinds.map((k) => ({ value: k, label: e.kinds[k] }))}
        onChange={(next) => next !== kind && onChange(toWait(next, wait))}
      />
      {found
        .filter(([field]) => !fields[kind].includes(field))
        .map(([field, reason]) => (
          <p className="ferr" key={field}>
            {reason}
          </p>
        ))}
      {kind === "for" && <ForFields {...part} />}
      {kind === "until" && <UntilFields {...part} />}
      {kind === "signal" && <SignalFields {...part} />}
      {kind === "approval" && <ApprovalFields {...part} />}
      {kind === "runs" && <RunsFields {...part} />}
    </>
  );
}

interface PartProps {
  wait: StepWait;
  /** Why a field is wrong. */
  wrong(field: string): string | undefined;
  onChange(wait: StepWait): void;
}

function ForFields({ wait, wrong, onChange }: PartProps) {
  const e = usePageT().waits.edit;
  return (
    <div className="three">
      <DurationField
        label={e.for}
        hint={e.forHint}
        placeholder="10m"
        value={wait.for}
        error={wrong("for")}
        onChange={(lasts = "") => onChange({ for: lasts })}
      />
    </div>
  );
}

function UntilFields({ wait, wrong, onChange }: PartProps) {
  const e = usePageT().waits.edit;
  return (
    <TextField
      label={e.until}
      hint={e.untilHint}
      mono
      placeholder={"${fire_time|day|+22h}"}
      value={wait.until ?? ""}
      error={wrong("until")}
      onChange={(until) => onChange({ until })}
    />
  );
}

/** After how long the wait ends unmet. */
function Expires({ wait, wrong, onChange }: PartProps) {
  const e = usePageT().waits.edit;
  return (
    <DurationField
      label={e.expires}
      hint={e.expiresHint}
      placeholder="8h"
      value={wait.expires}
      error={wrong("expires")}
      onChange={(expires) => onChange(keep({ ...wait, expires }))}
    />
  );
}

/** A wait without what is empty, but for what makes its kind. */
function keep(wait: StepWait): StepWait {
  const { expires, key, ...rest } = wait;
  return { ...rest, ...without({ key, expires }) };
}

function SignalFields(part: PartProps) {
  const { wait, wrong, onChange } = part;
  const e = usePageT().waits.edit;
  return (
    <div className="three">
      <TextField
        label={e.signal}
        hint={e.signalHint}
        mono
        placeholder="paid"
        value={wait.signal ?? ""}
        error={wrong("signal")}
        onChange={(signal) => onChange({ ...wait, signal })}
      />
      <TextField
        label={e.key}
        optional
        hint={e.keyHint}
        mono
        placeholder={"${params.order}"}
        value={wait.key ?? ""}
        error={wrong("key")}
        onChange={(key) => onChange(keep({ ...wait, key }))}
      />
      <Expires {...part} />
    </div>
  );
}

function ApprovalFields(part: PartProps) {
  const { wait, wrong, onChange } = part;
  const e = usePageT().waits.edit;
  const approval = wait.approval ?? {};
  const set = (change: Partial<typeof approval>) =>
    onChange({ ...wait, approval: without({ ...approval, ...change }) });
  return (
    <>
      <Lines
        label={e.by}
        hint={e.byHint}
        placeholder="role:operator"
        value={approval.by ?? []}
        error={wrong("approval.by")}
        onChange={(by) => set({ by })}
      />
      <Check
        label={e.notRequester}
        checked={approval.not_by_requester ?? false}
        onChange={(on) => set({ not_by_requester: on || undefined })}
      />
      <div className="three">
        <NumberField
          label={e.min}
          min={1}
          placeholder="1"
          value={approval.min}
          error={wrong("approval.min")}
          onChange={(min) => set({ min })}
        />
        <Expires {...part} />
      </div>
    </>
  );
}

function RunsFields(part: PartProps) {
  const { wait, wrong, onChange } = part;
  const e = usePageT().waits.edit;
  const runs = wait.runs ?? { job: "" };
  const set = (change: Partial<typeof runs>) => {
    const { job, ...rest } = { ...runs, ...change };
    onChange({ ...wait, runs: { job, ...without(rest) } });
  };
  const isSpan = runs.from !== undefined || runs.to !== undefined || runs.last === undefined;
  return (
    <>
      <div className="f">
        <span className="lab">{e.runsOf}</span>
        <JobName
          label={e.runsOf}
          value={runs.job}
          bad={wrong("runs.job") !== undefined}
          onChange={(job) => set({ job })}
        />
        {wrong("runs.job") && <p className="ferr">{wrong("runs.job")}</p>}
      </div>
      <SegmentsField
        label={e.which}
        value={isSpan ? "span" : "last"}
        options={[
          { value: "last", label: e.last },
          { value: "span", label: e.span },
        ]}
        onChange={(next) =>
          set(
            next === "last"
              ? { last: 1, from: undefined, to: undefined }
              : { last: undefined, from: "${fire_time|-1d|day}", to: "${fire_time|day}" },
          )
        }
      />
      <div className="three">
        {isSpan ? (
          <>
            <TextField
              label={e.from}
              mono
              placeholder={"${fire_time|-1d|day}"}
              value={runs.from ?? ""}
              error={wrong("runs.from")}
              onChange={(from) => set({ from })}
            />
            <TextField
              label={e.to}
              mono
              placeholder={"${fire_time|day}"}
              value={runs.to ?? ""}
              error={wrong("runs.to")}
              onChange={(to) => set({ to })}
            />
          </>
        ) : (
          <NumberField
            label={e.count}
            min={1}
            placeholder="1"
            value={runs.last}
            error={wrong("runs.last")}
            onChange={(last) => set({ last })}
          />
        )}
        <TextField
          label={e.need}
          hint={e.needHint}
          mono
          placeholder="all"
          value={String(runs.need ?? "")}
          error={wrong("runs.need")}
          onChange={(need) => set({ need })}
        />
        <Choice
          label={e.skipped}
          value={runs.skipped ?? "bad"}
          options={(["bad", "ok"] as const).map((k) => ({ value: k, label: e.skippedWords[k] }))}
          error={wrong("runs.skipped")}
          onChange={(skipped) => set({ skipped: skipped === "bad" ? undefined : skipped })}
        />
        <Expires {...part} />
      </div>
    </>
  );
}
