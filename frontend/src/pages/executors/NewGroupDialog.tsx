import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { FormDialog } from "@/components/FormDialog";
import { TextField } from "@/components/fields";
import { usePageT } from "@/i18n";

/** Names a group, and leads to its page, where it gets credentials, limits, and its first executor. */
export function NewGroupDialog({ taken, onClose }: { taken: string[]; onClose(): void }) {
  const t = usePageT();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const isTaken = taken.includes(name);
  const isName = /^[a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?$/.test(name);
  return (
    <FormDialog
      title={t.fleet.newGroup}
      hint={t.fleet.newGroupHint}
      verb={t.fleet.prepare}
      busy={false}
      disabled={!isName || isTaken}
      onSubmit={() => void navigate({ to: "/executors/$group", params: { group: name } })}
      onClose={onClose}
    >
      <TextField
        label={t.fleet.groupName}
        hint={isTaken ? t.fleet.groupTaken : t.fleet.groupRule}
        mono
        value={name}
        placeholder="billing"
        onChange={(v) => setName(v.trim())}
      />
    </FormDialog>
  );
}
