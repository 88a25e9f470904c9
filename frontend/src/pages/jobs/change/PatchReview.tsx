import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { patchJobs } from "@/api/jobpatch";
import { refreshJobs } from "@/api/jobs";
import type { JobPatch, JobPatchItem, JobPatchResult } from "@/api/schema.gen";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { useComplain } from "@/shell/actions";
import { PatchList } from "./PatchList";

interface PatchReviewProps {
  title: string;
  hint?: string;
  request: JobPatch;
  /** What the request would do. */
  looked: JobPatchResult;
  onBack?(): void;
  onClose(): void;
  onDone(): void;
}

const of = (items: JobPatchItem[], result: JobPatchItem["result"]) =>
  items.filter((x) => x.result === result);

/** Shows what a change makes of each job, saves just that, and shows what was refused. */
export function PatchReview({ title, hint, request, looked, onBack, onClose, onDone }: PatchReviewProps) {
  const t = usePageT();
  const c = t.jobPatch;
  const client = useQueryClient();
  const complain = useComplain();
  const [note, setNote] = useState("");
  const wanted = of(looked.items, "changed");

  const announce = ({ change, items }: JobPatchResult) => {
    void refreshJobs(client);
    const [n, refused] = [of(items, "changed").length, of(items, "refused").length];
    const undo = () => change && void patchJobs({ undo: change }, false).then(announce, complain);
    toast({
      text: refused > 0 ? c.savedBut(n, refused) : c.saved(n),
      ...(change && { action: { label: c.undo, run: () => void undo() } }),
    });
  };
  const save = useMutation({
    mutationFn: () =>
      patchJobs(
        {
          ...request,
          // As they were looked at. An undo has the versions of its change.
          ...(!request.undo && { jobs: wanted.map(({ job, version }) => ({ job, version })) }),
          ...(note && { note }),
        },
        false,
      ),
    onSuccess: (saved) => {
      announce(saved);
      if (of(saved.items, "refused").length === 0) finish();
    },
  });
  const finish = () => {
    onDone();
    onClose();
  };
  if (save.data) {
    const [n, refused] = [of(save.data.items, "changed").length, of(save.data.items, "refused").length];
    return (
      <FormDialog
        title={title}
        hint={c.savedBut(n, refused)}
        wide
        verb={t.act.close}
        busy={false}
        onSubmit={finish}
        onClose={finish}
      >
        <PatchList items={save.data.items} />
      </FormDialog>
    );
  }
  return (
    <FormDialog
      title={title}
      hint={
        <>
          {hint}{" "}
          {c.would(wanted.length, of(looked.items, "refused").length, of(looked.items, "unchanged").length)}
        </>
      }
      wide
      verb={c.save(wanted.length)}
      busy={save.isPending}
      disabled={wanted.length === 0}
      error={save.error}
      back={onBack && { label: c.back, go: onBack }}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField label={t.joblist.review.note} value={note} maxLength={500} onChange={setNote} />
      <PatchList items={looked.items} />
    </FormDialog>
  );
}
