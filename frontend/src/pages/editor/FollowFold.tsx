import { Plus, X } from "lucide-react";
import type { Child } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { Check } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { JobName } from "@/shell/JobNameField";
import { Fold } from "./Fold";
import { type SectionProps, without } from "./Section";

const ends = ["success", "failure", "end"] as const;

/** Which jobs run after this one. */
export function FollowFold({ doc, onChange, errors }: SectionProps) {
  const e = useEditorT().editor;
  const children = doc.children ?? [];
  const setChildren = (next: Child[]) => onChange(without({ ...doc, children: next }));
  const edit = (i: number, child: Child) => setChildren(children.map((c, j) => (j === i ? child : c)));
  const wrong = [...errors].filter(([field]) => field.startsWith("children"));
  return (
    <Fold
      title={e.follow}
      hint={e.followHint}
      said={children.map((c) => ({ value: `${c.job} ${e.childEnds[c.on ?? "success"]}` }))}
    >
      <div className="f">
        <span className="lab">{e.children}</span>
        {children.map((c, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while its name is typed
          <div className="childrow" key={i}>
            <select
              className="select"
              aria-label={e.childOn}
              value={c.on ?? "success"}
              onChange={(x) => {
                const on = ends.find((s) => s === x.target.value);
                edit(i, without({ ...c, on: on === "success" ? undefined : on }));
              }}
            >
              {ends.map((s) => (
                <option key={s} value={s}>
                  {e.childEnds[s]}
                </option>
              ))}
            </select>
            <JobName label={e.childJob} value={c.job} onChange={(job) => edit(i, { ...c, job })} />
            <Check
              label={e.passResult}
              checked={c.pass_result ?? false}
              onChange={(on) => edit(i, { ...c, pass_result: on || undefined })}
            />
            <IconButton
              icon={X}
              size={14}
              label={e.removeChild}
              onClick={() => setChildren(children.filter((_, j) => j !== i))}
            />
          </div>
        ))}
        <span>
          <Button small icon={Plus} onClick={() => setChildren([...children, { job: "" }])}>
            {e.addChild}
          </Button>
        </span>
        <p className="hint">{e.childrenHint}</p>
      </div>
      {wrong.map(([field, reason]) => (
        <p key={field} className="ferr">
          <code className="mono">{field}</code> {reason}
        </p>
      ))}
    </Fold>
  );
}
