import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { groupsQuery } from "@/api/cluster";
import type { Access } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { usePageT } from "@/i18n";
import { GroupChoice } from "./GroupChoice";

const roles = ["viewer", "operator", "editor", "admin"] as const;
const grants = ["logs", "params", "scripts", "secrets", "sql", "assist"] as const;

/** What comes with a role when nobody says otherwise. */
const usual: Record<Access["role"], readonly (typeof grants)[number][]> = {
  viewer: ["logs"],
  operator: ["logs", "params"],
  editor: ["logs", "params", "scripts", "secrets"],
  admin: ["logs", "params", "scripts", "secrets", "sql"],
};

/** A new role. Its group is still to be chosen. */
export const newAccess: Access = { role: "viewer", group: "" };

/** Whether each role says where it holds. */
export function isWhole(access: Access[]): boolean {
  return access.every((a) => a.group !== "");
}

interface AccessRowsProps {
  value: Access[];
  onChange(next: Access[]): void;
}

/** Edits what somebody may do where, a row for each role. */
export function AccessRows({ value, onChange }: AccessRowsProps) {
  const t = usePageT();
  const s = t.settings;
  const groups = (useQuery(groupsQuery).data?.items ?? []).map((g) => g.executor_group);
  const edit = (i: number, next: Access) => onChange(value.map((a, j) => (j === i ? next : a)));
  const toggle = (a: Access, grant: (typeof grants)[number]): Access => {
    const has = a.grants ?? usual[a.role];
    const next = grants.filter((g) => (g === grant ? !has.includes(g) : has.includes(g)));
    const same = next.length === usual[a.role].length && next.every((g) => usual[a.role].includes(g));
    return same ? { role: a.role, group: a.group } : { ...a, grants: next };
  };
  return (
    <div className="f">
      <span className="lab">{s.access}</span>
      {value.map((a, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is edited
        <div className="accessrow" key={i}>
          <div className="row g2">
            <select
              className="select"
              aria-label={s.role}
              value={a.role}
              onChange={(e) => {
                const role = roles.find((r) => r === e.target.value);
                if (role) edit(i, { role, group: a.group });
              }}
            >
              {roles.map((r) => (
                <option key={r} value={r}>
                  {t.signIn.roles[r]}
                </option>
              ))}
            </select>
            <span className="mut">{s.in}</span>
            <GroupChoice value={a.group} groups={groups} onChange={(group) => edit(i, { ...a, group })} />
            <IconButton
              icon={X}
              size={14}
              label={s.removeRole}
              onClick={() => onChange(value.filter((_, j) => j !== i))}
            />
          </div>
          <div className="row g3 wrap">
            <span className="mut">{s.sees}</span>
            {grants.map((g) => (
              <label className="check small" key={g}>
                <input
                  type="checkbox"
                  className="ck"
                  checked={(a.grants ?? usual[a.role]).includes(g)}
                  onChange={() => edit(i, toggle(a, g))}
                />
                <span>{s.grants[g]}</span>
              </label>
            ))}
          </div>
        </div>
      ))}
      <span>
        <Button small icon={Plus} onClick={() => onChange([...value, newAccess])}>
          {s.addRole}
        </Button>
      </span>
    </div>
  );
}
