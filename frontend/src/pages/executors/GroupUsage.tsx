import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Group } from "@/api/schema.gen";
import { usePageT } from "@/i18n";
import { UsageCard } from "@/shell/UsageCard";

const charts = ["waiting", "longest", "started", "slots"] as const;

/** How busy the executors of a group were. */
export function GroupUsage({ group: g }: { group: Group }) {
  const { usage: u } = usePageT().fleet;
  const navigate = useNavigate({ from: "/executors/$group" });
  const slots = g.instances.reduce((n, i) => (i.state === "lost" ? n : n + i.slots), 0);
  return (
    <UsageCard
      of={{ group: g.executor_group }}
      title={u.title}
      limit={slots > 0 ? { value: slots, text: u.slotsNow(slots) } : undefined}
      charts={charts}
      search={useSearch({ from: "/executors/$group" })}
      onSearch={(search) => void navigate({ search, replace: true })}
    />
  );
}
