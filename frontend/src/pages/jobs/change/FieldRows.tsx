import { Check } from "@/components/fields";
import { usePageT } from "@/i18n";
import { nameOfField } from "@/lib/fieldname";
import { changeable } from "@/lib/jobpatch";
import "./change.css";

interface FieldRowsProps {
  /** What was typed for the fields that are ticked, by path. */
  typed: Readonly<Record<string, string>>;
  onChange(next: Record<string, string>): void;
}

/** The fields that can be changed, each off until it is ticked. */
export function FieldRows({ typed, onChange }: FieldRowsProps) {
  const t = usePageT();
  const c = t.jobPatch;
  return (
    <ul className="fieldrows">
      {changeable.map(({ path, is, example }) => {
        const text = typed[path];
        const name = nameOfField(path, { ...t.fieldNames, ...c.names }) ?? path;
        const type = (next: string) => onChange({ ...typed, [path]: next });
        const { [path]: _, ...others } = typed;
        const label = c.value(name);
        return (
          <li key={path}>
            <Check
              label={name}
              checked={text !== undefined}
              onChange={(on) => (on ? type(typeof is === "string" ? "" : (is[0] ?? "")) : onChange(others))}
            />
            {text !== undefined &&
              (typeof is === "string" ? (
                <span className="inp">
                  <input
                    className="mono"
                    aria-label={label}
                    autoComplete="off"
                    spellCheck={false}
                    placeholder={`${example} · ${c.removed}`}
                    value={text}
                    onChange={(e) => type(e.target.value)}
                  />
                </span>
              ) : (
                <select
                  className="select"
                  aria-label={label}
                  value={text}
                  onChange={(e) => type(e.target.value)}
                >
                  {is.map((value) => (
                    <option key={value} value={value}>
                      {value}
                    </option>
                  ))}
                </select>
              ))}
          </li>
        );
      })}
    </ul>
  );
}
