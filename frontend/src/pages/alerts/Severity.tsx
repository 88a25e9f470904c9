import { CircleAlert, Info, OctagonAlert } from "lucide-react";
import type { Severity as SeverityOf } from "@/api/schema.gen";
import { Mark } from "@/components/Status";
import { usePageT } from "@/i18n";

const looks = {
  info: ["run", Info],
  warning: ["warn", CircleAlert],
  critical: ["bad", OctagonAlert],
} as const;

export function Severity({ of }: { of: SeverityOf }) {
  const t = usePageT();
  const [tone, icon] = looks[of];
  return (
    <Mark tone={tone} icon={icon}>
      {t.alerts.severity[of]}
    </Mark>
  );
}
