import { Plus, X } from "lucide-react";
import { useT } from "@/i18n";
import { Menu, MenuChoice } from "./Menu";

interface FilterChipProps<T extends string> {
  name: string;
  options: { value: T; label: string }[];
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
  const t = useT();
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
            {o.label}
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
