import { useQuery } from "@tanstack/react-query";
import { undoTrial } from "@/api/jobpatch";
import { Dialog } from "@/components/Dialog";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { PatchReview } from "./PatchReview";

/** Undoes a change of many jobs, once somebody has seen what that does to each. */
export default function UndoDialog({ change, onClose }: { change: string; onClose(): void }) {
  const c = usePageT().jobPatch;
  const look = useQuery(undoTrial(change));
  if (!look.data) {
    return (
      <Dialog title={c.undoTitle} open wide onClose={onClose}>
        <Waiting on={look} rows={4} />
      </Dialog>
    );
  }
  return (
    <PatchReview
      title={c.undoTitle}
      hint={c.undoHint}
      request={{ undo: change }}
      looked={look.data}
      onClose={onClose}
      onDone={() => {}}
    />
  );
}
