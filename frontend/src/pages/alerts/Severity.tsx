import { CircleAlert, Info, OctagonAlert } from "lucide-react";
import type { Severity as SeverityOf } from "@/api/schema.gen";
import { Mark } from "@/components/Status";
import { useAlertT } from "./texts";

const looks = {
  info: ["run", Info],
  warning: ["warn", CircleAlert],
  critical: ["bad", OctagonAlert],
} as const;

export function Severity({ of }: { of: SeverityOf }) {
  const t = useAlertT();
  const [tone, icon] = looks[of];
  return (
    <Mark tone={tone} icon={icon}>
      {t.alerts.severity[of]}
    </Mark>
  );
}
