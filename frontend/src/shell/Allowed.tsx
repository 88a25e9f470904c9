import { Lock } from "lucide-react";
import type { ReactNode } from "react";
import type { Deed } from "@/api/session";
import { Empty } from "@/components/Panel";
import { useT } from "@/i18n";
import { useMay } from "./may";

/** Which role one has who may do it. What is no role's is granted beside it. */
const roles: Partial<Record<Deed, string>> = {
  view: "viewer",
  operate: "operator",
  edit: "editor",
  admin: "admin",
};

interface AllowedProps {
  /** What one must be able to do, and where: in a group, everywhere ("*"), or anywhere. */
  deed: Deed;
  group?: string;
  children: ReactNode;
}

/** What only some may see. The others are told what they lack, and nothing is asked for that would be refused. */
export function Allowed({ deed, group, children }: AllowedProps) {
  return useMay()(deed, group) ? children : <NotAllowed deed={deed} group={group} />;
}

export function NotAllowed({ deed, group }: Omit<AllowedProps, "children">) {
  const t = useT();
  const role = t.signIn.roles[roles[deed] ?? ""] ?? deed;
  return <Empty icon={Lock} title={t.error.notAllowed} hint={t.error.roleNeeded(role, group)} />;
}
