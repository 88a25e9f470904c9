import { useQuery } from "@tanstack/react-query";
import { type JobFilter, jobFacets } from "@/api/jobs";
import { FilterMenu } from "@/components/FilterChip";
import { MenuChoice, MenuLine } from "@/components/Menu";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { bare, isSpan, type JobField, knownValues } from "@/lib/jobfilter";
import { nameOfValue } from "./valuenames";

interface FieldFilterProps {
  field: JobField;
  /** What is chosen of it; a hyphen before a value turns it round. */
  chosen: string[];
  /** Of the whole list, for what there is to choose from. */
  filter: JobFilter;
  onChange(chosen: string[]): void;
}

/** A filter by one field: dashed while nothing is chosen, solid with what is. */
export function FieldFilter({ field, chosen, filter, onChange }: FieldFilterProps) {
  const t = usePageT();
  const set = chosen.length > 0;
  const isNot = set && chosen.every((v) => v.startsWith("-"));
  const [first = ""] = chosen;
  const what = chosen.length > 1 ? t.joblist.anyOf(chosen.length) : nameOfValue(t, field, bare(first));
  return (
    <FilterMenu
      name={t.joblist.fields[field]}
      value={set && <b className="trunc">{isNot ? t.joblist.not(what) : what}</b>}
      onClear={() => onChange([])}
    >
      <Values {...{ field, chosen, filter, onChange }} />
    </FilterMenu>
  );
}

/** What there is to choose from, asked for when the menu is opened. */
export function Values({ field, chosen, filter, onChange }: FieldFilterProps) {
  const t = usePageT();
  const f = useFormat();
  const facets = useQuery({ ...jobFacets(filter), enabled: !isSpan(field) }).data?.items[field] ?? [];
  const counts = new Map(facets.map((x) => [x.value, x.count]));
  const values = isSpan(field)
    ? (knownValues[field] ?? [])
    : [...new Set([...facets.map((x) => x.value), ...chosen.map(bare)])];
  const isNot = chosen.length > 0 && chosen.every((v) => v.startsWith("-"));
  const toggle = (value: string) => {
    const without = chosen.filter((c) => bare(c) !== value);
    if (without.length < chosen.length) return onChange(without);
    return onChange(isSpan(field) ? [value] : [...chosen, isNot ? `-${value}` : value]);
  };
  if (values.length === 0) return <p className="mi mut">{t.joblist.nothing}</p>;
  return (
    <>
      {values.map((value) => (
        <MenuChoice
          key={value}
          stays={!isSpan(field)}
          on={chosen.some((c) => bare(c) === value)}
          onSelect={() => toggle(value)}
        >
          <span className="row g3">
            <span className="grow trunc">{nameOfValue(t, field, value)}</span>
            {!isSpan(field) && <span className="mut num">{f.number(counts.get(value) ?? 0)}</span>}
          </span>
        </MenuChoice>
      ))}
      {chosen.length > 0 && !isSpan(field) && (
        <>
          <MenuLine />
          <MenuChoice
            stays
            on={isNot}
            onSelect={() => onChange(chosen.map((v) => (isNot ? bare(v) : `-${bare(v)}`)))}
          >
            {t.joblist.turn}
          </MenuChoice>
        </>
      )}
    </>
  );
}
