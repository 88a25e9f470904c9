import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { groupsQuery } from "@/api/cluster";
import { TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { refOf } from "@/lib/jobref";
import { Section, type SectionProps, without } from "./Section";

/** How people find the job. */
export function Basics({ doc, onChange, errors, isNew }: SectionProps & { isNew: boolean }) {
  const t = useEditorT();
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const listId = useId();
  const { group, name } = refOf(doc.job);
  const known = groups.find((g) => g.executor_group === group);
  const online = known?.instances.filter((i) => i.state === "online").length ?? 0;
  return (
    <Section title={t.editor.basics} hint={t.editor.basicsHint}>
      <div className="two">
        <TextField
          label={t.editor.name}
          mono
          value={name}
          disabled={!isNew}
          placeholder="nightly-report"
          hint={isNew ? t.editor.nameHint : undefined}
          error={errors.get("job")}
          onChange={(v) => onChange({ ...doc, job: `${group}/${v}` })}
        />
        <TextField
          label={
            <>
              {t.editor.group} {known && <span className="mut">{t.executors.onlineCount(online)}</span>}
            </>
          }
          mono
          value={group}
          list={listId}
          disabled={!isNew}
          hint={group !== "" && groups.length > 0 && online === 0 ? t.editor.groupOffline : undefined}
          onChange={(v) => onChange({ ...doc, job: `${v}/${name}` })}
        />
        <datalist id={listId}>
          {groups.map((g) => (
            <option key={g.executor_group} value={g.executor_group} />
          ))}
        </datalist>
      </div>
      <TextField
        label={t.editor.titleField}
        value={doc.title ?? ""}
        hint={t.editor.titleHint}
        error={errors.get("title")}
        onChange={(v) => onChange(without({ ...doc, title: v }))}
      />
      <TextField
        label={t.editor.description}
        value={doc.description ?? ""}
        error={errors.get("description")}
        onChange={(v) => onChange(without({ ...doc, description: v }))}
      />
    </Section>
  );
}
