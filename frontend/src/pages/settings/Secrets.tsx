import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { groupsQuery } from "@/api/cluster";
import { Choice } from "@/components/fields";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useMay } from "@/shell/may";
import { SecretsCard } from "@/shell/SecretsCard";

/** The secrets of one group after the other. */
export default function Secrets() {
  const t = usePageT();
  const may = useMay();
  const navigate = useNavigate();
  const { group: wanted } = useSearch({ strict: false });
  const list = useQuery(groupsQuery);
  if (!list.data) return <Waiting on={list} />;
  const groups = list.data.items.map((g) => g.executor_group).filter((g) => may("edit", g));
  if (groups.length === 0) groups.push("default");
  const group = groups.find((g) => g === wanted) ?? groups[0] ?? "default";
  return (
    <div className="grid">
      <div className="choosegroup">
        <Choice
          label={t.settings.secretsOf}
          value={group}
          options={groups.map((g) => ({ value: g, label: g }))}
          onChange={(next) =>
            void navigate({
              to: "/settings/$tab",
              params: { tab: "secrets" },
              search: { group: next },
              replace: true,
            })
          }
        />
      </div>
      <SecretsCard key={group} group={group} />
    </div>
  );
}
