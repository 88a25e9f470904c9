import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { putSecret, secretsKey } from "@/api/groups";
import { problemOf } from "@/api/problem";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { usePage } from "@/i18n";
import { secrets as en } from "@/i18n/en/secrets";
import { secrets as zh } from "@/i18n/zh/secrets";

const texts = { en: { secrets: en }, zh: { secrets: zh } };

interface SecretDialogProps {
  group: string;
  /** One that is to get another value; absent for a new one. */
  secret?: string;
  description?: string;
  onClose(): void;
}

/** Creates or replaces a secret of a group. Its value goes to the server and is never shown again. */
export function SecretDialog({ group, secret, description: before = "", onClose }: SecretDialogProps) {
  const t = usePage(texts);
  const ids = useId();
  const client = useQueryClient();
  const [name, setName] = useState(secret ?? "");
  const [value, setValue] = useState("");
  const [description, setDescription] = useState(before);
  const save = useMutation({
    mutationFn: () => putSecret(group, name, value, description),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: secretsKey(group) });
      onClose();
    },
  });
  const problem = save.error ? problemOf(save.error) : undefined;
  return (
    <Dialog
      title={secret ? t.secrets.replace(secret) : t.secrets.createIn(group)}
      hint={t.secrets.hint}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button
            look="primary"
            busy={save.isPending}
            disabled={name === "" || value === ""}
            onClick={() => save.mutate()}
          >
            {t.secrets.save}
          </Button>
        </>
      }
    >
      {!secret && (
        <label className="f" htmlFor={`${ids}n`}>
          <span className="lab">{t.secrets.name}</span>
          <span className="inp">
            <input
              id={`${ids}n`}
              className="mono"
              value={name}
              placeholder="reports-api"
              autoComplete="off"
              spellCheck={false}
              onChange={(e) => setName(e.target.value.trim())}
            />
          </span>
        </label>
      )}
      <label className="f" htmlFor={`${ids}v`}>
        <span className="lab">{t.secrets.value}</span>
        <textarea
          id={`${ids}v`}
          className="area mono masked"
          rows={3}
          value={value}
          autoComplete="off"
          spellCheck={false}
          onChange={(e) => setValue(e.target.value)}
        />
      </label>
      <label className="f" htmlFor={`${ids}d`}>
        <span className="lab">
          {t.secrets.description} <span className="mut">{t.act.optional}</span>
        </span>
        <span className="inp">
          <input
            id={`${ids}d`}
            value={description}
            maxLength={500}
            onChange={(e) => setDescription(e.target.value)}
          />
        </span>
      </label>
      {problem && (
        <p className="ferr" role="alert">
          {problem.errors?.map((x) => `${x.field} ${x.reason}`).join("; ") ??
            problem.detail ??
            t.error.codes[problem.code]}
        </p>
      )}
    </Dialog>
  );
}
