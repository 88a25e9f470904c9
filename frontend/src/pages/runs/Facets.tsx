import { X } from "lucide-react";
import { IconButton } from "@/components/Button";
import { FilterChip } from "@/components/FilterChip";
import { usePageWords } from "@/lib/format";
import { scopes } from "@/lib/scope";
import { statuses } from "@/lib/status";
import { causes, type runsSearch } from "@/router";
import { narrowedBy } from "./narrowed";

type Search = ReturnType<typeof runsSearch>;

/** One thing by which runs are told apart, and what there is of it. */
interface Facet {
  key: string;
  name: string;
  multiple: boolean;
  options: { value: string; label: string; n: number | undefined }[];
  chosen: string[];
  /** It does not narrow what is shown. */
  idle?: boolean;
  set(values: string[]): void;
}

interface FacetsProps {
  search: Search;
  /** What there is, with counts, by dimension; undefined until it is known. */
  found: Record<string, { value: string; count: number }[]> | undefined;
  /** How many fires took more than one attempt. */
  again: number | undefined;
  onSet(change: Partial<Search>): void;
}

/** What runs can be narrowed to. */
function useFacets({ search, found, again, onSet }: FacetsProps): Facet[] {
  const { t } = usePageWords();
  const c = t.runs.columns;
  const { by, status, cause, job, group, instance, version, again: tried, error } = search;
  const counted = (dimension: string) => new Map(found?.[dimension]?.map((v) => [v.value, v.count]));
  const there = (dimension: string, chosen: string[], label = (v: string) => v) => {
    const counts = counted(dimension);
    return [...new Set([...chosen, ...counts.keys()])].map((value) => ({
      value,
      label: label(value),
      n: counts.get(value),
    }));
  };
  const orNone = (values: string[]) => (values.length === 0 ? undefined : values);
  const one = (value: string | number | undefined) => (value === undefined ? [] : [String(value)]);
  const facets: Facet[] = [
    {
      key: "status",
      name: t.runlist.status,
      multiple: true,
      options: statuses.map((s) => ({ value: s, label: t.status[s], n: counted("status").get(s) })),
      chosen: status ?? [],
      set: (next) => {
        const chosen = statuses.filter((s) => next.includes(s));
        onSet({ status: chosen.length === 0 ? undefined : chosen });
      },
    },
    {
      key: "cause",
      name: t.runlist.cause,
      multiple: true,
      options: causes.map((x) => ({ value: x, label: t.cause[x], n: counted("cause").get(x) })),
      chosen: cause ?? [],
      set: (next) => {
        const chosen = causes.filter((x) => next.includes(x));
        onSet({ cause: chosen.length === 0 ? undefined : chosen });
      },
    },
    {
      key: "group",
      name: t.runlist.group,
      multiple: false,
      options: there("group", one(group)),
      chosen: one(group),
      set: ([next]) => onSet({ group: next }),
    },
    // They are chosen on the overview; here one can clear them.
    ...scopes
      .filter((key) => key !== "group" && search[key])
      .map((key) => ({
        key,
        name: t.month.of[key],
        multiple: false,
        options: there(key, one(search[key])),
        chosen: one(search[key]),
        set: ([next]: string[]) => onSet({ [key]: next }),
      })),
    {
      key: "job",
      name: c.job,
      multiple: true,
      options: there("job", job ?? []),
      chosen: job ?? [],
      set: (next) => onSet({ job: orNone(next) }),
    },
    {
      key: "instance",
      name: t.runlist.instance,
      multiple: false,
      options: there("instance", one(instance)),
      chosen: one(instance),
      set: ([next]) => onSet({ instance: next }),
    },
    {
      key: "version",
      name: c.version,
      multiple: false,
      options: there("version", one(version), (v) => `v${v}`),
      chosen: one(version),
      set: ([next]) => onSet({ version: next === undefined ? undefined : Number(next) }),
    },
    {
      key: "again",
      name: c.attempt,
      multiple: false,
      options: [{ value: "true", label: t.runlist.triedAgain, n: again }],
      chosen: one(tried),
      set: ([next]) => onSet({ again: next === undefined ? undefined : "true" }),
    },
    {
      key: "error",
      name: t.run.error,
      multiple: false,
      options: there("error", one(error)),
      chosen: one(error),
      set: ([next]) => onSet({ error: next }),
    },
  ];
  const narrows = by && narrowedBy[by];
  return facets.map((facet) => ({ ...facet, idle: narrows && !narrows.includes(facet.key) }));
}

/** So many values of each are shown at first. */
const shown = 6;

/** The facets at the left, where there is room: each value with how many fires it has. */
export function FacetRail(props: FacetsProps) {
  const { t, f } = usePageWords();
  const facets = useFacets(props);
  return (
    <aside className="facets" aria-label={t.runlist.facets}>
      {facets.map((facet) => {
        const some = facet.options.filter((o) => (o.n ?? 0) > 0 || facet.chosen.includes(o.value));
        if (some.length === 0) return null;
        const toggle = (value: string) => {
          const without = facet.chosen.filter((v) => v !== value);
          if (without.length < facet.chosen.length) facet.set(without);
          else facet.set(facet.multiple ? [...facet.chosen, value] : [value]);
        };
        const row = (o: Facet["options"][number]) => (
          <li key={o.value}>
            <label>
              <input
                type="checkbox"
                className="ck"
                checked={facet.chosen.includes(o.value)}
                disabled={facet.idle}
                onChange={() => toggle(o.value)}
              />
              <span className="trunc" title={o.label}>
                {o.label}
              </span>
              <span className="right mut num">{o.n === undefined ? "" : f.number(o.n)}</span>
            </label>
          </li>
        );
        return (
          <fieldset
            key={facet.key}
            className={facet.idle ? "idle" : undefined}
            title={facet.idle ? t.runlist.idle : undefined}
          >
            <legend>
              {facet.name}
              {facet.chosen.length > 0 && (
                <IconButton
                  icon={X}
                  size={13}
                  label={`${t.act.clear}: ${facet.name}`}
                  onClick={() => facet.set([])}
                />
              )}
            </legend>
            <ul>{some.slice(0, shown).map(row)}</ul>
            {some.length > shown && (
              <details>
                <summary>{t.runlist.moreValues(some.length - shown)}</summary>
                <ul>{some.slice(shown).map(row)}</ul>
              </details>
            )}
          </fieldset>
        );
      })}
    </aside>
  );
}

/** The same as chips, where there is no room at the left. */
export function FacetChips(props: FacetsProps) {
  const facets = useFacets(props);
  return (
    <span className="facetchips chiprow">
      {facets
        .filter((facet) => !facet.idle)
        .map((facet) => (
          <FilterChip
            key={facet.key}
            name={facet.name}
            multiple={facet.multiple}
            options={facet.options.map(({ value, label, n }) =>
              n === undefined ? { value, label } : { value, label, n },
            )}
            chosen={facet.chosen}
            onChange={facet.set}
          />
        ))}
    </span>
  );
}
