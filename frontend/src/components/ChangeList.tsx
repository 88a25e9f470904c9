import type { FieldChange } from "@/api/schema.gen";
import { useT } from "@/i18n";

/** What a change did, field by field: what was, and what is now. */
export function ChangeList({ changes }: { changes: FieldChange[] }) {
  const t = useT();
  return (
    <ul className="changes">
      {changes.map((c) => (
        <li key={c.field}>
          <code className="mono">{c.field}</code>
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
  return typeof value === "string" ? value : JSON.stringify(value);
}
