import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { type JobFilter, jobFacets } from "@/api/jobs";
import { FilterField } from "@/components/FilterField";
import { Menu, MenuItem } from "@/components/Menu";
import { usePageT } from "@/i18n";
import {
  isSpan,
  type JobChoices,
  type JobField,
  jobFields,
  knownValues,
  readChoices,
  together,
  unfinishedOf,
  withoutUnfinished,
} from "@/lib/jobfilter";
import { FieldFilter } from "./FieldFilter";
import { nameOfValue } from "./valuenames";

/** Fields that are always there to be chosen from; the others come when one asks for them. */
const usual: readonly JobField[] = ["group", "owner", "last", "type", "tag"];

interface FiltersProps {
  q: string;
  choices: JobChoices;
  filter: JobFilter;
  onText(q: string): void;
  onChoose(choices: JobChoices): void;
}

/** The text and the fields by which jobs are filtered. A text may say field:value, too. */
export function Filters({ q, choices, filter, onText, onChoose }: FiltersProps) {
  const t = usePageT();
  const [wanted, setWanted] = useState<JobField[]>([]);
  const [writing, setWriting] = useState<ReturnType<typeof unfinishedOf>>();
  const facets = useQuery({ ...jobFacets(filter), enabled: writing !== undefined && !isSpan(writing.field) });
  const shown = jobFields.filter((f) => usual.includes(f) || choices[f] || wanted.includes(f));
  const hidden = jobFields.filter((f) => !shown.includes(f));
  const values: { value: string; count?: number }[] =
    writing === undefined
      ? []
      : isSpan(writing.field)
        ? (knownValues[writing.field] ?? []).map((value) => ({ value }))
        : (facets.data?.items[writing.field] ?? []);
  const suggestions = values
    .map((x) => ({ value: x.value, n: x.count, label: nameOfValue(t, writing?.field ?? "group", x.value) }))
    .filter((x) =>
      [x.value, x.label].some((text) => text.toLowerCase().includes(writing?.value.toLowerCase() ?? "")),
    )
    .slice(0, 10);
  return (
    <>
      <FilterField
        value={q}
        placeholder={t.joblist.placeholder}
        eager
        onChange={onText}
        reads={withoutUnfinished}
        onText={(text) => setWriting(unfinishedOf(text))}
        rewrite={(text, isFinished) => {
          const { rest, choices: more } = readChoices(text, isFinished);
          if (Object.keys(more).length > 0) onChoose(together(choices, more));
          return rest;
        }}
        suggestions={suggestions}
        onPick={(value, text) => {
          if (!writing) return text;
          const { field, not } = writing;
          onChoose(together(choices, { [field]: [not && !isSpan(field) ? `-${value}` : value] }));
          return withoutUnfinished(text);
        }}
      />
      <span className="chiprow">
        {shown.map((field) => (
          <FieldFilter
            key={field}
            field={field}
            chosen={choices[field] ?? []}
            filter={filter}
            onChange={(chosen) => onChoose({ ...choices, [field]: chosen.length > 0 ? chosen : undefined })}
          />
        ))}
        {hidden.length > 0 && (
          <Menu
            align="start"
            trigger={
              <button type="button" className="fchip">
                <Plus size={14} aria-hidden />
                {t.joblist.more}
              </button>
            }
          >
            {hidden.map((field) => (
              <MenuItem key={field} onSelect={() => setWanted([...wanted, field])}>
                {t.joblist.fields[field]}
              </MenuItem>
            ))}
          </Menu>
        )}
      </span>
    </>
  );
}
