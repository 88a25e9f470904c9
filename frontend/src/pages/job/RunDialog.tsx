import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { givenParams } from "@/api/runs";
import type { Instance, JobItem } from "@/api/schema.gen";
import { CodeEditor } from "@/components/CodeEditor";
import { FormDialog } from "@/components/FormDialog";
import { Choice } from "@/components/fields";
import { writeJson } from "@/lib/exact";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { paramsIn } from "@/lib/params";
import { useParamFields } from "./useParamFields";

const RunParams = lazy(() => import("./RunParams").then((m) => ({ default: m.RunParams })));

interface RunDialogProps {
  item: JobItem;
  onClose(): void;
  onRun(params: unknown, labels: Record<string, string> | undefined): Promise<unknown>;
}

/** Runs a job once with other parameters, or on an executor of one's choice. */
export function RunDialog({ item, onClose, onRun }: RunDialogProps) {
  const { t, f } = usePageWords();
  const r = t.job.runDialog;
  const now = useNow();
  const d = item.definition;
  const [text, setText] = useState(writeJson(d.params ?? {}, 2));
  const [place, setPlace] = useState("");
  const [busy, setBusy] = useState(false);
  const given = useQuery(givenParams(d.job)).data ?? [];
  const instances =
    useQuery(groupsQuery)
      .data?.items.find((g) => g.executor_group === refOf(d.job).group)
      ?.instances.filter((i) => i.state === "online") ?? [];
  const fields = useParamFields(d);
  const chosen = instances.find((i) => i.instance === place);
  const alike = chosen ? instances.filter((i) => i !== chosen && hasLabelsOf(i, chosen)) : [];
  const value = text.trim() === "" ? undefined : paramsIn(text);
  const run = () => {
    if (value === undefined) return;
    setBusy(true);
    onRun(value.json, chosen?.labels).then(onClose, () => setBusy(false));
  };
  const sets = [
    ...(d.params === undefined ? [] : [{ json: d.params, label: r.own }]),
    ...given.map((g) => ({ json: g.json, label: `${f.short(g.at, now)}: ${brief(g.json)}` })),
  ];
  return (
    <FormDialog
      title={t.job.runAsk(d.job)}
      hint={t.job.runHint}
      wide
      verb={t.act.run}
      busy={busy}
      disabled={value === undefined}
      aside={value === undefined && t.job.badJson}
      onSubmit={run}
      onClose={onClose}
    >
      {sets.length > 0 && (
        <Choice
          label={r.earlier}
          value={String(sets.findIndex((s) => same(s.json, value?.json)))}
          options={[
            { value: "-1", label: r.other },
            ...sets.map((s, i) => ({ value: String(i), label: s.label })),
          ]}
          onChange={(i) => {
            const set = sets[Number(i)];
            if (set) setText(writeJson(set.json, 2));
          }}
        />
      )}
      {fields.length > 0 ? (
        <Suspense>
          <RunParams fields={fields} text={text} onChange={setText} />
        </Suspense>
      ) : (
        <CodeEditor label={t.run.params} language="json" value={text} onChange={setText} rows={10} />
      )}
      <Choice
        label={r.where}
        value={place}
        options={[
          { value: "", label: r.anywhere },
          ...instances
            .filter((i) => Object.keys(i.labels ?? {}).length > 0)
            .map((i) => ({ value: i.instance, label: `${i.instance} (${written(i)})` })),
        ]}
        hint={chosen ? (alike.length > 0 ? r.alike(alike.map((i) => i.instance)) : undefined) : r.whereHint}
        onChange={setPlace}
      />
    </FormDialog>
  );
}

/** Where an instance runs is told by its labels: another that has them all may take the run too. */
function hasLabelsOf(other: Instance, one: Instance): boolean {
  return Object.entries(one.labels ?? {}).every(([k, v]) => other.labels?.[k] === v);
}

function written({ labels = {} }: Instance): string {
  return Object.entries(labels)
    .map(([k, v]) => `${k}=${v}`)
    .join(", ");
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** So much of a value as a line has room for. */
function brief(json: unknown): string {
  const text = writeJson(json);
  return text.length > 70 ? `${text.slice(0, 70)}…` : text;
}
