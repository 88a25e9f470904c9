import type { FieldChange } from "@/api/schema.gen";
import { usePageT } from "@/i18n";
import { writeJson } from "@/lib/exact";
import { nameOfField } from "@/lib/fieldname";

/** What a change did, field by field: what was, and what is now. */
export function ChangeList({ changes }: { changes: FieldChange[] }) {
  const t = usePageT();
  const name = (field: string) => nameOfField(field, t.fieldNames);
  return (
    <ul className="changes">
      {changes.map((c) => (
        <li key={c.field}>
          <span className="row g2">
            {name(c.field) && <b>{name(c.field)}</b>}
            <code className={name(c.field) ? "mono mut" : "mono"}>{c.field}</code>
          </span>
          {c.from !== undefined && (
            <span className="from">
              <span className="mut">{t.act.was}</span> <del>{textOf(c.from, t.act.unset)}</del>
            </span>
          )}
          <span className="to">
            <span className="mut">{t.act.becomes}</span> <ins>{textOf(c.to, t.act.unset)}</ins>
          </span>
        </li>
      ))}
    </ul>
  );
}

function textOf(value: unknown, unset: string): string {
  if (value === undefined || value === null) return unset;
  return typeof value === "string" ? value : writeJson(value);
}
