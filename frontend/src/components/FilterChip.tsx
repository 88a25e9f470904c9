import { Plus, X } from "lucide-react";
import { useWords } from "@/lib/format";
import { Menu, MenuChoice } from "./Menu";

interface FilterChipProps<T extends string> {
  name: string;
  /** What there is to choose from; n says how much of it. */
  options: { value: T; label: string; n?: number }[];
  chosen: NoInfer<T>[];
  /** Several may be chosen, for "or". */
  multiple?: boolean;
  onChange(chosen: NoInfer<T>[]): void;
}

/** One filter of a list: dashed while it is not set, solid with its values when it is. */
export function FilterChip<T extends string>({
  name,
  options,
  chosen,
  multiple,
  onChange,
}: FilterChipProps<T>) {
  const { t, f } = useWords();
  const label = (value: T) => options.find((o) => o.value === value)?.label ?? value;
  const set = chosen.length > 0;
  const toggle = (value: T) => {
    const without = chosen.filter((c) => c !== value);
    if (without.length < chosen.length) onChange(without);
    else onChange(multiple ? [...chosen, value] : [value]);
  };
  return (
    <span className="row">
      <Menu
        align="start"
        trigger={
          <button type="button" className={set ? "fchip set" : "fchip"}>
            {!set && <Plus size={14} aria-hidden />}
            {name}
            {set && <b>{chosen.length > 2 ? `${chosen.length}` : chosen.map(label).join(", ")}</b>}
          </button>
        }
      >
        {options.map((o) => (
          <MenuChoice key={o.value} on={chosen.includes(o.value)} onSelect={() => toggle(o.value)}>
            <span className="row g3">
              <span className="grow">{o.label}</span>
              {o.n !== undefined && <span className="mut num">{f.number(o.n)}</span>}
            </span>
          </MenuChoice>
        ))}
      </Menu>
      {set && (
        <button
          type="button"
          className="fclear"
          aria-label={`${t.act.clear}: ${name}`}
          onClick={() => onChange([])}
        >
          <X size={13} aria-hidden />
        </button>
      )}
    </span>
  );
}
