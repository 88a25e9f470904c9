import { Workflow } from "lucide-react";
import { Button } from "@/components/Button";
import { useEditorT } from "@/i18n";
import { runsElsewhere } from "@/lib/elsewhere";
import { asWorkflow } from "@/lib/graph/edit";
import { refOf } from "@/lib/jobref";
import { Section, type SectionProps, without } from "../Section";
import { asElsewhere } from "./kinds";
import { ParamsField } from "./ParamsField";
import { TaskFields } from "./TaskFields";
import { TestRun } from "./TestRun";

export function TaskSection({ doc, onChange, errors }: SectionProps) {
  const { editor: e, steps } = useEditorT();
  const { task = {} } = doc;
  const { group } = refOf(doc.job);
  const elsewhere = runsElsewhere(doc);
  return (
    <Section title={e.task} hint={elsewhere ? e.watch.hint : e.taskHint}>
      <TaskFields
        group={group}
        task={task}
        errors={errors}
        onChange={(next) => onChange({ ...doc, task: next })}
        onWatch={() => onChange(asElsewhere(doc))}
      />
      {(!elsewhere || errors.has("params")) && (
        <ParamsField
          group={group}
          handler={task.handler}
          schema={doc.params_schema}
          value={doc.params}
          onChange={(params) => onChange(without({ ...doc, params }))}
          error={errors.get("params")}
        />
      )}
      {!elsewhere && (
        <>
          <TestRun doc={doc} />
          <div>
            <Button small look="ghost" icon={Workflow} onClick={() => onChange(asWorkflow(doc))}>
              {steps.edit.make}
            </Button>
          </div>
        </>
      )}
    </Section>
  );
}
