import { useMutation } from "@tanstack/react-query";
import { History } from "lucide-react";
import { tryRule } from "@/api/alerts";
import type { Alert } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Refusal } from "@/components/Refusal";
import { usePageT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { summaryOf, useSentence } from "@/lib/sentence";

/** So many incidents are shown; of the others there is the number. */
const shown = 5;

/** Says what a rule would have found, had it been there for a week. An edit of the rule makes a new one of it. */
export function RuleTrial({ rule }: { rule: Alert }) {
  const a = usePageT().alerts;
  const f = useFormat();
  const say = useSentence();
  const now = useNow();
  const trial = useMutation({ mutationFn: () => tryRule({ ...rule, alert: rule.alert || "new" }) });
  const found = trial.data;
  return (
    <section className="stack" aria-label={a.trial}>
      <span>
        <Button small icon={History} busy={trial.isPending} onClick={() => trial.mutate()}>
          {a.trial}
        </Button>
      </span>
      <Refusal error={trial.error} />
      {found && (
        <div className="note info stack" role="status">
          <span>
            {a.wouldHave(found.total)}{" "}
            <span className="sec">{a.trialOf(found.runs, f.short(found.from, now))}</span>
          </span>
          {found.items.length > 0 && (
            <ul className="names">
              {found.items.slice(0, shown).map((i) => (
                <li key={`${i.subject} ${i.opened_at}`}>
                  <span className="num mut">{f.short(i.opened_at, now)}</span>
                  <span className="grow trunc">{say(summaryOf(i))}</span>
                  <span className="num mut">
                    {i.resolved_at
                      ? formatDuration(Date.parse(i.resolved_at) - Date.parse(i.opened_at))
                      : a.trialOpen}
                  </span>
                </li>
              ))}
              {found.total > shown && <li className="mut">{a.trialMore(found.total - shown)}</li>}
            </ul>
          )}
        </div>
      )}
    </section>
  );
}
