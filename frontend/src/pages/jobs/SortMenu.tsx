import { ArrowUpDown } from "lucide-react";
import { Menu, MenuChoice } from "@/components/Menu";
import { usePageT } from "@/i18n";

interface SortMenuProps {
  sort: string;
  onSort(sort: string): void;
}

/** What comes first in the list: what people mostly look for; heads of columns have the rest. */
export function SortMenu({ sort, onSort }: SortMenuProps) {
  const t = usePageT();
  const { sorts } = t.joblist;
  return (
    <Menu
      trigger={
        <button
          type="button"
          className="fchip plain"
          aria-label={`${t.joblist.sort}: ${sorts[sort] ?? sort}`}
        >
          <ArrowUpDown size={14} aria-hidden />
          {sorts[sort] ?? t.joblist.sort}
        </button>
      }
    >
      {Object.entries(sorts).map(([value, text]) => (
        <MenuChoice key={value} on={value === sort} onSelect={() => onSort(value)}>
          {text}
        </MenuChoice>
      ))}
    </Menu>
  );
}
