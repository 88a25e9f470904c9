import { Workflow } from "lucide-react";
import { Button } from "@/components/Button";
import { useEditorT } from "@/i18n";
import { asWorkflow } from "@/lib/graph/edit";
import { refOf } from "@/lib/jobref";
import { Section, type SectionProps, without } from "../Section";
import { ParamsField } from "./ParamsField";
import { TaskFields } from "./TaskFields";
import { TestRun } from "./TestRun";

export function TaskSection({ doc, onChange, errors }: SectionProps) {
  const { editor: e, steps } = useEditorT();
  const { task = {} } = doc;
  const { group } = refOf(doc.job);
  return (
    <Section title={e.task} hint={e.taskHint}>
      <TaskFields
        group={group}
        task={task}
        errors={errors}
        onChange={(next) => onChange({ ...doc, task: next })}
      />
      <ParamsField
        group={group}
        handler={task.handler}
        schema={doc.params_schema}
        value={doc.params}
        onChange={(params) => onChange(without({ ...doc, params }))}
        error={errors.get("params")}
      />
      <TestRun doc={doc} />
      <div>
        <Button small look="ghost" icon={Workflow} onClick={() => onChange(asWorkflow(doc))}>
          {steps.edit.make}
        </Button>
      </div>
    </Section>
  );
}
