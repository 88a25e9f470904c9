import { useQuery } from "@tanstack/react-query";
import { groupsQuery } from "@/api/cluster";
import { FilterChip } from "@/components/FilterChip";
import { useT } from "@/i18n";

interface GroupFilterProps {
  group: string | undefined;
  onChange(group: string | undefined): void;
}

/** Narrows a page to one executor group. */
export function GroupFilter({ group, onChange }: GroupFilterProps) {
  const t = useT();
  const groups = useQuery(groupsQuery).data?.items ?? [];
  return (
    <FilterChip
      name={t.jobs.group}
      options={groups.map((g) => ({ value: g.executor_group, label: g.executor_group }))}
      chosen={group ? [group] : []}
      onChange={([next]) => onChange(next)}
    />
  );
}
