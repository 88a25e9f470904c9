import { useState } from "react";
import { putSecret, secretsKey } from "@/api/groups";
import { FormDialog } from "@/components/FormDialog";
import { Field, TextField } from "@/components/fields";
import { usePageT } from "@/i18n";
import { useSave } from "@/shell/useSave";

interface SecretDialogProps {
  group: string;
  /** One that is to get another value; absent for a new one. */
  secret?: string;
  description?: string;
  onClose(): void;
}

/** Creates or replaces a secret of a group. Its value goes to the server and is never shown again. */
export function SecretDialog({ group, secret, description: before = "", onClose }: SecretDialogProps) {
  const t = usePageT();
  const [name, setName] = useState(secret ?? "");
  const [value, setValue] = useState("");
  const [description, setDescription] = useState(before);
  const save = useSave({
    act: () => putSecret(group, name, value, description || (secret ? "" : undefined)),
    stale: secretsKey(group),
    onSaved: onClose,
  });
  return (
    <FormDialog
      title={secret ? t.secrets.replace(secret) : t.secrets.createIn(group)}
      hint={t.secrets.hint}
      verb={t.secrets.save}
      {...save}
      disabled={name === "" || value === ""}
      onClose={onClose}
    >
      {!secret && (
        <TextField
          label={t.secrets.name}
          mono
          value={name}
          placeholder="reports-api"
          onChange={(v) => setName(v.trim())}
        />
      )}
      <Field label={t.secrets.value}>
        {(ids) => (
          <textarea
            {...ids}
            className="area mono masked"
            rows={3}
            value={value}
            autoComplete="off"
            spellCheck={false}
            onChange={(e) => setValue(e.target.value)}
          />
        )}
      </Field>
      <TextField
        label={t.secrets.description}
        optional
        value={description}
        maxLength={500}
        onChange={setDescription}
      />
    </FormDialog>
  );
}
