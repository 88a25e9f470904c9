import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
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

interface FilterMenuProps {
  name: string;
  /** What is chosen, if anything is. */
  value: ReactNode;
  onClear(): void;
  /** What there is to choose from. */
  children: ReactNode;
}

/** One filter of a list: dashed while it is not set, solid with its value when it is. */
export function FilterMenu({ name, value, onClear, children }: FilterMenuProps) {
  const { t } = useWords();
  return (
    <span className="row">
      <Menu
        align="start"
        trigger={
          <button type="button" className={value ? "fchip set" : "fchip"}>
            {!value && <Plus size={14} aria-hidden />}
            {name}
            {value}
          </button>
        }
      >
        {children}
      </Menu>
      {value && (
        <button type="button" className="fclear" aria-label={`${t.act.clear}: ${name}`} onClick={onClear}>
          <X size={13} aria-hidden />
        </button>
      )}
    </span>
  );
}

/** A filter of one value, or of several for "or". */
export function FilterChip<T extends string>({
  name,
  options,
  chosen,
  multiple,
  onChange,
}: FilterChipProps<T>) {
  const { f } = useWords();
  const label = (value: T) => options.find((o) => o.value === value)?.label ?? value;
  const value = chosen.length > 2 ? `${chosen.length}` : chosen.map(label).join(", ");
  const toggle = (value: T) => {
    const without = chosen.filter((c) => c !== value);
    if (without.length < chosen.length) onChange(without);
    else onChange(multiple ? [...chosen, value] : [value]);
  };
  return (
    <FilterMenu name={name} value={chosen.length > 0 && <b>{value}</b>} onClear={() => onChange([])}>
      {options.map((o) => (
        <MenuChoice key={o.value} on={chosen.includes(o.value)} onSelect={() => toggle(o.value)}>
          <span className="row g3">
            <span className="grow">{o.label}</span>
            {o.n !== undefined && <span className="mut num">{f.number(o.n)}</span>}
          </span>
        </MenuChoice>
      ))}
    </FilterMenu>
  );
}
