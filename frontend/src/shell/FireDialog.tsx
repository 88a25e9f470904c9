import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { refreshJobs, runEarly, skipFire } from "@/api/jobs";
import { scheduleKey } from "@/api/schedule";
import { TextField } from "@/components/fields";
import { Segments } from "@/components/Segments";
import { toast } from "@/components/Toasts";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { AskDialog } from "./AskDialog";

interface FireDialogProps {
  job: string;
  fireTime: string;
  /** What to do with it; undefined lets one choose. */
  act?: "skip" | "early";
  onClose(): void;
}

/** Calls off one fire that is ahead, or runs it now in its place. */
export function FireDialog({ job, fireTime, act, onClose }: FireDialogProps) {
  const { t, f } = usePageWords();
  const now = useNow();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<"skip" | "early">(act ?? "skip");
  const [reason, setReason] = useState("");
  const w = t.fire[chosen];
  return (
    <AskDialog
      title={w.ask(job, f.short(fireTime, now))}
      hint={w.hint}
      verb={w.verb}
      mild
      act={async () => {
        if (chosen === "skip") {
          await skipFire(refOf(job), fireTime, reason);
          return undefined;
        }
        return (await runEarly(refOf(job), fireTime, reason)).run_id;
      }}
      onDone={(runId) => {
        void refreshJobs(client);
        void client.invalidateQueries({ queryKey: scheduleKey });
        toast({
          text: w.done(job),
          action: runId
            ? { label: t.act.openRun, run: () => void navigate({ to: "/runs/$runId", params: { runId } }) }
            : undefined,
        });
      }}
      onClose={onClose}
    >
      {act === undefined && (
        <Segments
          label={t.fire.what}
          value={chosen}
          onChange={setChosen}
          options={[
            { value: "skip", label: t.fire.skip.verb },
            { value: "early", label: t.fire.early.verb },
          ]}
        />
      )}
      <TextField label={t.fire.reason} value={reason} maxLength={500} onChange={setReason} />
    </AskDialog>
  );
}
