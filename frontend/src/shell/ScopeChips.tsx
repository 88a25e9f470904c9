import { useQuery } from "@tanstack/react-query";
import { jobFacets } from "@/api/jobs";
import { FilterMenu } from "@/components/FilterChip";
import { MenuChoice } from "@/components/Menu";
import { usePageWords } from "@/lib/format";
import { type Scope, scopes } from "@/lib/scope";

interface ScopeChipsProps {
  scope: Scope;
  /** Takes what is to change. */
  onChange(change: Scope): void;
}

/** Narrows a page to the jobs of a group, an owner and a tag. */
export default function ScopeChips({ scope, onChange }: ScopeChipsProps) {
  const { t } = usePageWords();
  return scopes.map((by) => (
    <FilterMenu
      key={by}
      name={t.month.of[by]}
      value={scope[by] && <b>{scope[by]}</b>}
      onClear={() => onChange({ [by]: undefined })}
    >
      <Choices by={by} chosen={scope[by]} onChoose={(value) => onChange({ [by]: value })} />
    </FilterMenu>
  ));
}

interface ChoicesProps {
  by: keyof Scope;
  chosen: string | undefined;
  onChoose(value: string | undefined): void;
}

/** What there is to choose from, which is asked for once somebody looks. */
function Choices({ by, chosen, onChoose }: ChoicesProps) {
  const { f } = usePageWords();
  const found = useQuery(jobFacets({})).data?.items[by] ?? [];
  return found
    .filter((v) => v.value !== "none")
    .map((v) => (
      <MenuChoice
        key={v.value}
        on={v.value === chosen}
        onSelect={() => onChoose(v.value === chosen ? undefined : v.value)}
      >
        <span className="row g3">
          <span className="grow">{v.value}</span>
          <span className="mut num">{f.number(v.count)}</span>
        </span>
      </MenuChoice>
    ));
}
