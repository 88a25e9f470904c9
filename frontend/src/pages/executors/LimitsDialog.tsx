import { useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { putGroup } from "@/api/groups";
import type { Group } from "@/api/schema.gen";
import { FormDialog } from "@/components/FormDialog";
import { Lines, NumberField } from "@/components/fields";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { useSave } from "@/shell/useSave";

/** Sets the limits of a group, and which groups may start its jobs. */
export function LimitsDialog({ group, onClose }: { group: Group; onClose(): void }) {
  const t = usePageT();
  const name = group.executor_group;
  const [limit, setLimit] = useState(group.limit);
  const [rate, setRate] = useState(group.rate);
  const [startedBy, setStartedBy] = useState(group.started_by ?? []);
  const save = useSave({
    act: () => putGroup(name, { limit: limit ?? 0, rate: rate ?? 0, started_by: startedBy }),
    stale: groupsQuery.queryKey,
    onSaved: () => {
      toast({ text: t.fleet.saved(name) });
      onClose();
    },
  });
  return (
    <FormDialog
      title={t.fleet.limitsOf(name)}
      hint={t.fleet.limitsHint}
      verb={t.fleet.save}
      {...save}
      onClose={onClose}
    >
      <div className="two">
        <NumberField
          label={t.fleet.limit}
          min={0}
          max={40_000}
          placeholder={t.fleet.noLimit}
          value={limit}
          onChange={setLimit}
        />
        <NumberField
          label={t.fleet.rate}
          min={0}
          max={10_000}
          placeholder={t.fleet.noLimit}
          value={rate}
          onChange={setRate}
        />
      </div>
      <Lines
        label={t.fleet.startedBy}
        hint={t.fleet.startedByHint}
        value={startedBy}
        onChange={setStartedBy}
      />
    </FormDialog>
  );
}
