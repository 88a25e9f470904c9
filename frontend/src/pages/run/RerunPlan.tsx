import type { RerunStep } from "@/api/schema.gen";
import { usePageWords } from "@/lib/format";
import { tallyOf } from "@/lib/graph/rerun";
import { useSayer } from "@/lib/reason";

/** What a rerun would do with each step, and why. */
export function RerunPlan({ plan }: { plan: RerunStep[] }) {
  const { t } = usePageWords();
  const { say } = useSayer();
  const w = t.run.retry;
  return (
    <div className="f">
      <span className="lab">
        {w.plan}{" "}
        <span className="mut">
          {tallyOf(plan)
            .map(({ action, n }) => w.tally[action](n))
            .join(t.reasonJoint)}
        </span>
      </span>
      <div className="rerunplan" tabIndex={0} role="group" aria-label={w.plan}>
        <table className="tbl">
          <thead>
            <tr>
              <th>{t.steps.columns.step}</th>
              <th>{w.action}</th>
              <th>{t.steps.columns.why}</th>
            </tr>
          </thead>
          <tbody>
            {plan.map((s) => (
              <tr key={s.step}>
                <td className="mono">{s.step}</td>
                <td className="nowrap">{w.actions[s.action]}</td>
                <td className="mut">{say(s.reason)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}
