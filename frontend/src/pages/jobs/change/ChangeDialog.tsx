import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { patchJobs } from "@/api/jobpatch";
import type { JobPatch } from "@/api/schema.gen";
import { CodeEditor } from "@/components/CodeEditor";
import { FormDialog } from "@/components/FormDialog";
import { Segments } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { fromYaml } from "@/lib/jobdoc";
import { isPatch, type Patch, patchOf } from "@/lib/jobpatch";
import { FieldRows } from "./FieldRows";
import { PatchReview } from "./PatchReview";

interface ChangeDialogProps {
  jobs: string[];
  onClose(): void;
  onDone(): void;
}

/** Changes fields of many jobs: first it is said what, then shown what that makes of each, then saved. */
export default function ChangeDialog({ jobs, onClose, onDone }: ChangeDialogProps) {
  const t = usePageT();
  const c = t.jobPatch;
  const [as, setAs] = useState<"fields" | "yaml">("fields");
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [text, setText] = useState("");
  const [request, setRequest] = useState<JobPatch>();
  const look = useMutation({
    mutationFn: async () => {
      const patch = as === "fields" ? patchOf(typed) : await readPatch(text, c.notObject);
      const asked: JobPatch = { jobs: jobs.map((job) => ({ job })), patch };
      return { asked, answer: await patchJobs(asked, true) };
    },
    onSuccess: ({ asked }) => setRequest(asked),
  });
  const title = c.title(jobs.length);
  if (request && look.data) {
    return (
      <PatchReview
        title={title}
        request={request}
        looked={look.data.answer}
        onBack={() => setRequest(undefined)}
        onClose={onClose}
        onDone={onDone}
      />
    );
  }
  return (
    <FormDialog
      title={title}
      hint={as === "fields" ? c.hint : c.yamlHint}
      wide
      verb={c.preview}
      busy={look.isPending}
      disabled={as === "fields" ? Object.keys(typed).length === 0 : text.trim() === ""}
      error={look.error}
      onSubmit={() => look.mutate()}
      onClose={onClose}
    >
      <Segments
        label={c.act}
        value={as}
        options={[
          { value: "fields", label: c.fields },
          { value: "yaml", label: c.yaml },
        ]}
        onChange={setAs}
      />
      {as === "fields" ? (
        <FieldRows typed={typed} onChange={setTyped} />
      ) : (
        <CodeEditor label={c.yaml} language="yaml" rows={10} value={text} onChange={setText} />
      )}
    </FormDialog>
  );
}

async function readPatch(text: string, otherwise: string): Promise<Patch> {
  const patch = await fromYaml(text);
  if (!isPatch(patch)) throw new Error(otherwise);
  return patch;
}
