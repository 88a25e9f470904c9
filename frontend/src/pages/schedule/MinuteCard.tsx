import { Info, WandSparkles } from "lucide-react";
import { Button } from "@/components/Button";
import { Card } from "@/components/Panel";
import { tip } from "@/components/Tips";
import { usePageWords } from "@/lib/format";

interface MinuteCardProps {
  /** How many fires come on each minute of an hour. */
  minutes: number[];
  /** The quarter of an hour for which offsets are suggested, in words. */
  when: string;
  /** Absent for who may save no job. */
  onSuggest: (() => void) | undefined;
}

/** On which minute of the hour work fires, and what could be done about those that stand out. */
export function MinuteCard({ minutes, when, onSuggest }: MinuteCardProps) {
  const { t, f } = usePageWords();
  const most = Math.max(1, ...minutes);
  const total = minutes.reduce((a, b) => a + b, 0);
  const usual = total / minutes.length;
  const peak = minutes.indexOf(most);
  const name = (m: number) => `:${String(m).padStart(2, "0")}`;
  const share = f.percent(most / Math.max(1, total));
  const stands = most > 2 * usual;
  const text = stands ? t.plan.peak(name(peak), share) : t.plan.noPeak;
  return (
    <Card title={t.plan.minutes} note={t.plan.minutesHint}>
      <div className="b">
        <div className="minutes" role="img" aria-label={`${t.plan.minutes}: ${text}`}>
          {minutes.map((n, m) => (
            <i
              // biome-ignore lint/suspicious/noArrayIndexKey: a minute is its number
              key={m}
              className={n === most && stands ? "h-5" : n > usual ? "h-3" : "h-2"}
              style={{ height: `${(n / most) * 100}%` }}
              {...tip(`${name(m)} · ${t.plan.firesIn(n)}`)}
            />
          ))}
        </div>
        <div className="minuteaxis mut num" aria-hidden>
          <span>:00</span>
          <span>:15</span>
          <span>:30</span>
          <span>
            <span>:45</span>
            <span>:59</span>
          </span>
        </div>
        <div className="note info row g3">
          <Info size={15} aria-hidden />
          <span className="grow">
            {text} {onSuggest && t.plan.suggestFor(when)}
          </span>
          {onSuggest && (
            <Button small icon={WandSparkles} onClick={onSuggest}>
              {t.plan.suggest}
            </Button>
          )}
        </div>
      </div>
    </Card>
  );
}
