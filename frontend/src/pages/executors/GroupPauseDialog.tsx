import { FormDialog } from "@/components/FormDialog";
import { usePageT } from "@/i18n";
import { usePauseForm } from "@/shell/usePauseForm";
import type { useGroupPause } from "./useGroupPause";

interface GroupPauseDialogProps {
  group: string;
  pause: ReturnType<typeof useGroupPause>;
  onClose(): void;
}

/** Asks until when a group is paused, and why, and says how many fires that skips. */
export function GroupPauseDialog({ group, pause, onClose }: GroupPauseDialogProps) {
  const t = usePageT();
  const { skips, invalid, wish, fields } = usePauseForm(group);
  return (
    <FormDialog
      title={t.fleet.pause.ask(group)}
      hint={
        <>
          {t.fleet.pause.hint} {skips}
        </>
      }
      verb={t.fleet.pause.verb}
      danger
      busy={pause.isPending}
      disabled={invalid}
      error={pause.error}
      onSubmit={() => pause.mutate({ paused: true, ...wish() }, { onSuccess: onClose })}
      onClose={onClose}
    >
      {fields}
    </FormDialog>
  );
}
