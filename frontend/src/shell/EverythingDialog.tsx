import { useQuery, useQueryClient } from "@tanstack/react-query";
import { holdQuery, setPause } from "@/api/cluster";
import { usePageT } from "@/i18n";
import { AskDialog } from "./AskDialog";
import { usePauseForm } from "./usePauseForm";

/** Asks before everything is paused, and says how many fires that skips; or before it is resumed. */
export default function EverythingDialog({ onClose }: { onClose(): void }) {
  const t = usePageT();
  const client = useQueryClient();
  const paused = useQuery(holdQuery).data?.paused;
  const done = () => void client.invalidateQueries();
  if (paused === undefined) return null;
  if (!paused) return <PauseDialog onDone={done} onClose={onClose} />;
  return (
    <AskDialog
      title={t.cluster.resumeAsk}
      hint={t.cluster.resumeHint}
      verb={t.overview.resumeAll}
      mild
      act={() => setPause(false, "")}
      onDone={done}
      onClose={onClose}
    />
  );
}

function PauseDialog({ onDone, onClose }: { onDone(): void; onClose(): void }) {
  const t = usePageT();
  const { skips, invalid, wish, fields } = usePauseForm();
  return (
    <AskDialog
      title={t.cluster.pauseAsk}
      hint={
        <>
          {t.cluster.pauseHint} {skips}
        </>
      }
      verb={t.overview.pauseAll}
      disabled={invalid}
      act={() => {
        const { note, until } = wish();
        return setPause(true, note, until);
      }}
      onDone={onDone}
      onClose={onClose}
    >
      {fields}
    </AskDialog>
  );
}
