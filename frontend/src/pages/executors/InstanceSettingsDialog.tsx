import { useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { setInstance } from "@/api/groups";
import type { Instance } from "@/api/schema.gen";
import { FormDialog } from "@/components/FormDialog";
import { NumberField, Pairs } from "@/components/fields";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { useSave } from "@/shell/useSave";

/** Changes an instance's slots and labels, until it ends. */
export function InstanceSettingsDialog({ instance: i, onClose }: { instance: Instance; onClose(): void }) {
  const t = usePageT();
  const [slots, setSlots] = useState<number | undefined>(i.slots);
  const [labels, setLabels] = useState<Record<string, string> | undefined>(i.labels);
  const save = useSave({
    act: () => setInstance(i.executor_group, i.instance, { slots, labels: labels ?? {} }),
    stale: groupsQuery.queryKey,
    onSaved: () => {
      toast({ text: t.fleet.saved(i.instance) });
      onClose();
    },
  });
  return (
    <FormDialog
      title={t.fleet.settingsOf(i.instance)}
      hint={t.fleet.settingsHint}
      verb={t.fleet.save}
      {...save}
      disabled={slots === undefined}
      onClose={onClose}
    >
      <NumberField
        label={t.fleet.slotsLabel}
        hint={t.fleet.slotsHint}
        min={1}
        max={10_000}
        value={slots}
        onChange={setSlots}
      />
      <Pairs
        label={t.fleet.labels}
        hint={t.fleet.labelsHint}
        between="="
        placeholder="zone=eu-1"
        value={labels}
        onChange={setLabels}
      />
    </FormDialog>
  );
}
