import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { rulesQuery } from "@/api/alerts";
import type { Job } from "@/api/schema.gen";
import { usePageT } from "@/i18n";
import { whenInWords } from "@/pages/alerts/conditions";
import { covers } from "@/pages/alerts/covers";
import { Severity } from "@/pages/alerts/Severity";
import { Section } from "./Section";

/** Who hears of it when a run of the job goes wrong: the alert rules that are about it. */
export function AlertsSection({ doc }: { doc: Job }) {
  const t = usePageT();
  const e = t.editor;
  const rules = useQuery(rulesQuery).data?.items.map((item) => item.definition);
  const covering = rules?.filter((rule) => covers(rule, doc)) ?? [];
  return (
    <Section title={e.alerts} hint={e.alertsHint}>
      {rules && covering.length === 0 && <p className="note warn">{e.noAlerts}</p>}
      {covering.length > 0 && (
        <ul aria-label={e.alerts}>
          {covering.map((rule) => (
            <li key={rule.alert} className="li flat">
              <Severity of={rule.severity ?? "warning"} />
              <b className="trunc">{rule.alert}</b>
              <span className="sec grow trunc">{whenInWords(rule.when, t)}</span>
              <span className={rule.channels?.length ? "mut trunc" : "c-warn"}>
                {rule.channels?.join(", ") || e.noChannel}
              </span>
            </li>
          ))}
        </ul>
      )}
      <Link to="/alerts/$tab" params={{ tab: "rules" }} className="textlink">
        {e.openRules}
      </Link>
    </Section>
  );
}
