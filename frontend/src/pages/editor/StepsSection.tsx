import { Plus, Trash2, TriangleAlert, X } from "lucide-react";
import type { Step } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { Check, Choice, TextField } from "@/components/fields";
import { StepIcon } from "@/components/graph/GraphBox";
import { usePageT } from "@/i18n";
import { wrongSteps } from "@/lib/graph/document";
import {
  addStep,
  changeStep,
  failurePolicies,
  removeStep,
  toAfter,
  withCall,
  withPolicy,
  withTask,
  withWait,
} from "@/lib/graph/edit";
import { conditions, edgesOf } from "@/lib/graph/steps";
import { refOf } from "@/lib/jobref";
import { Section, type SectionProps, without } from "./Section";
import { StepPieces } from "./StepPieces";
import { kindOfTask } from "./task/kinds";
import { ParamsField } from "./task/ParamsField";
import { TaskFields } from "./task/TaskFields";
import "./steps.css";

interface StepsSectionProps extends SectionProps {
  /** The step whose fields are open, by its place. */
  open: number | undefined;
  onOpen(at: number | undefined): void;
}

/** The steps of a workflow in the order of the document. The fields of one are open. */
export function StepsSection({ doc, onChange, errors, open, onOpen }: StepsSectionProps) {
  const t = usePageT();
  const steps = doc.steps ?? [];
  const wrong = wrongSteps(errors.keys());
  const set = (next: Step[]) => onChange({ ...doc, steps: next });
  return (
    <Section title={t.steps.edit.title} hint={t.steps.edit.hint}>
      <ol className="steplist">
        {steps.map((s, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place while its name is typed
          <li key={i}>
            <button
              type="button"
              className={i === open ? "stepitem on" : "stepitem"}
              aria-expanded={i === open}
              onClick={() => onOpen(i === open ? undefined : i)}
            >
              <StepIcon kind={kindOf(s)} />
              <b className="mono trunc">{s.step}</b>
              {s.title && <span className="trunc">{s.title}</span>}
              {s.finally && <span className="tag">{t.steps.finally}</span>}
              {wrong.has(i) && (
                <span className="c-bad row g1">
                  <TriangleAlert size={14} aria-hidden /> {t.steps.edit.wrong}
                </span>
              )}
              <span className="right mut trunc">
                {edgesOf(s.after)
                  .slice(0, 4)
                  .map((e) => e.step)
                  .join(", ")}
              </span>
            </button>
            {i === open && (
              <StepFields
                step={s}
                at={i}
                steps={steps}
                group={refOf(doc.job).group}
                errors={errors}
                onChange={(next) => set(changeStep(steps, i, next))}
                onRemove={() => {
                  set(removeStep(steps, i));
                  onOpen(undefined);
                }}
              />
            )}
          </li>
        ))}
      </ol>
      {errors.has("steps") && <p className="ferr">{errors.get("steps")}</p>}
      <div>
        <Button
          icon={Plus}
          small
          onClick={() => {
            set(addStep(steps));
            onOpen(steps.length);
          }}
        >
          {t.steps.edit.add}
        </Button>
      </div>
      <Choice
        label={t.steps.edit.onFailure}
        hint={t.steps.edit.onFailureHint}
        error={errors.get("on_failure")}
        value={doc.on_failure ?? "continue"}
        options={failurePolicies.map((p) => ({ value: p, label: t.steps.edit.policies[p] }))}
        onChange={(policy) => onChange(withPolicy(doc, policy))}
      />
    </Section>
  );
}

/** What a step does, as its icon shows it. */
function kindOf({ call, wait, task }: Step): string {
  if (call !== undefined) return "call";
  return wait === undefined ? (kindOfTask(task) ?? "other") : "wait";
}

interface FieldsProps {
  step: Step;
  at: number;
  steps: Step[];
  group: string;
  errors: ReadonlyMap<string, string>;
  onChange(step: Step): void;
  onRemove(): void;
}

const joins = ["all", "taken", "any"] as const;

function StepFields({ step, at, steps, group, errors, onChange, onRemove }: FieldsProps) {
  const t = usePageT();
  const e = t.steps.edit;
  const own = new Map(
    [...errors].flatMap(([field, reason]) => {
      const head = `steps[${at}].`;
      return field.startsWith(head) ? [[field.slice(head.length), reason] as const] : [];
    }),
  );
  const set = (change: Partial<Step>) =>
    onChange({ ...without({ ...step, ...change }), ...(step.call !== undefined && { call: step.call }) });
  const edges = edgesOf(step.after);
  const others = steps.map((s) => s.step).filter((s) => s !== step.step && !edges.some((x) => x.step === s));
  const join = String(step.join ?? "all");
  const shown = new Set(["step", "title", "if", "join"]);
  // What only a task has is said here of a step that waits.
  const elsewhere = step.wait === undefined ? /^(task|call|params|map|at_once|succeeds_if)\b/ : /^wait\b/;
  const rest = [...own].filter(([field]) => !shown.has(field) && !elsewhere.test(field));
  return (
    <div className="stepfields">
      <div className="three">
        <TextField
          label={e.name}
          mono
          value={step.step}
          error={own.get("step")}
          onChange={(name) => onChange({ ...step, step: name })}
        />
        <TextField
          label={e.stepTitle}
          optional
          value={step.title ?? ""}
          error={own.get("title")}
          onChange={(title) => set({ title })}
        />
      </div>
      <div className="f">
        <span className="lab">{t.steps.columns.after}</span>
        <div className="row g2 wrap">
          {edges.map((edge, i) => (
            <span className="afterchip" key={edge.step}>
              <span className="mono">{edge.step}</span>
              <select
                aria-label={e.on(edge.step)}
                value={edge.on}
                onChange={(x) => {
                  const on = conditions.find((c) => c === x.target.value) ?? "success";
                  set({ after: toAfter(edges.map((was, j) => (j === i ? { ...was, on } : was))) });
                }}
              >
                {conditions.map((c) => (
                  <option key={c} value={c}>
                    {t.steps.on[c]}
                  </option>
                ))}
              </select>
              <IconButton
                icon={X}
                size={13}
                label={e.removeEdge(edge.step)}
                onClick={() => set({ after: toAfter(edges.filter((_, j) => j !== i)) })}
              />
            </span>
          ))}
          {others.length > 0 && (
            <select
              className="select afteradd"
              aria-label={e.addEdge}
              value=""
              onChange={(x) => set({ after: toAfter([...edges, { step: x.target.value, on: "success" }]) })}
            >
              <option value="">{e.addEdge}</option>
              {others.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </div>
        {rest.map(([field, reason]) => (
          <p className="ferr" key={field}>
            {reason}
          </p>
        ))}
      </div>
      <div className="three">
        {edges.length > 1 && (
          <Choice
            label={e.join}
            value={join}
            error={own.get("join")}
            options={[...new Set([...joins, join])].map((j) => ({
              value: j,
              label: j === "all" ? e.joinAll : t.steps.join(j),
            }))}
            onChange={(next) => {
              const chosen = joins.find((j) => j === next);
              if (chosen) set({ join: chosen === "all" ? undefined : chosen });
            }}
          />
        )}
        <TextField
          label={t.steps.condition}
          optional
          mono
          placeholder="results.check.rows > 0"
          value={step.if ?? ""}
          error={own.get("if")}
          onChange={(text) => set({ if: text })}
        />
      </div>
      <div className="row g3 wrap">
        <Check
          label={e.mayFail}
          checked={step.may_fail ?? false}
          onChange={(on) => set({ may_fail: on || undefined })}
        />
        <Check
          label={e.finally}
          checked={step.finally ?? false}
          onChange={(on) => set({ finally: on || undefined })}
        />
      </div>
      <TaskFields
        group={group}
        task={step.task ?? {}}
        errors={own}
        onChange={(task) => onChange(withTask(step, task))}
        call={{ job: step.call, onChange: (job) => onChange(withCall(step, job)) }}
        wait={{ value: step.wait, onChange: (wait) => onChange(withWait(step, wait)) }}
      />
      {step.call === undefined && step.wait === undefined && (
        <StepPieces step={step} errors={own} onChange={set} />
      )}
      {step.wait === undefined && (
        <ParamsField
          group={group}
          handler={step.task?.handler}
          value={step.params}
          error={own.get("params")}
          onChange={(params) => set({ params })}
        />
      )}
      <div>
        <Button small icon={Trash2} look="danger" onClick={onRemove}>
          {e.remove}
        </Button>
      </div>
    </div>
  );
}
