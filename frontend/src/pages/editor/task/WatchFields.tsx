import type { Watch } from "@/api/schema.gen";
import { Check, Choice, DurationField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { without } from "../Section";
import type { TaskProps } from "./TaskFields";

const methods = ["GET", "HEAD", "POST"] as const;
const froms = ["first_ping", "now"] as const;

/** When pings are due, and by which methods they may come, for runs that are done elsewhere. */
export function WatchFields({ task, errors, set }: TaskProps) {
  const e = useEditorT().editor.watch;
  // A document may also give the grace alone.
  const watch: Watch = typeof task.watch === "string" ? { grace: task.watch } : (task.watch ?? {});
  const change = (next: Partial<Watch>) => set({ watch: without({ ...watch, ...next }) });
  const err = (field: string) => errors.get(`task.watch.${field}`);
  const allowed: readonly string[] = watch.methods?.length ? watch.methods : methods;
  const only = errors.get("task") ?? err("methods");
  return (
    <>
      <p className="sec">{e.how}</p>
      <div className="three">
        <DurationField
          label={e.grace}
          placeholder="10m"
          value={watch.grace}
          hint={e.graceHint}
          error={err("grace")}
          onChange={(grace) => change({ grace })}
        />
        <DurationField
          label={e.early}
          placeholder="1m"
          value={watch.early}
          hint={e.earlyHint}
          error={err("early")}
          onChange={(early) => change({ early })}
        />
        <Choice
          label={e.from}
          value={watch.from ?? "first_ping"}
          options={froms.map((f) => ({ value: f, label: e.fromWords[f] }))}
          hint={e.fromHints[watch.from ?? "first_ping"]}
          error={err("from")}
          onChange={(from) => change({ from: from === "first_ping" ? undefined : from })}
        />
      </div>
      <fieldset className="f">
        <legend className="lab">{e.methods}</legend>
        <span className="row g3 wrap">
          {methods.map((m) => (
            <Check
              key={m}
              label={m}
              checked={allowed.includes(m)}
              disabled={allowed.length === 1 && allowed.includes(m)}
              onChange={(on) => {
                const next = methods.filter((x) => (x === m ? on : allowed.includes(x)));
                change({ methods: next.length === methods.length ? undefined : next });
              }}
            />
          ))}
        </span>
        <p className={only ? "ferr" : "hint"}>{only ?? e.methodsHint}</p>
      </fieldset>
    </>
  );
}
