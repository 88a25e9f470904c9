import { useQuery } from "@tanstack/react-query";
import { CalendarX, TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";
import { refOf } from "@/api/jobs";
import { problemOf } from "@/api/problem";
import { fireCounts, schedulePreview } from "@/api/schedule";
import type { Job, Schedule } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Ago } from "@/components/Time";
import { isZone, useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { policiesInWords } from "@/lib/policies";
import { useEditorT } from "./texts";

const few = 8;
const many = 50;
const day = 86_400_000;

/** The next fires of what is being edited, as the server computes them. */
export function PreviewRail({ doc }: { doc: Job }) {
  const t = useEditorT();
  const f = useFormat();
  const [more, setMore] = useState(false);
  const schedule = useSettled(doc.schedule ?? {}, 250);
  const { group, name } = refOf(doc.job);
  const job = /^[a-z0-9][a-z0-9_-]*$/.test(group) && /^[a-z0-9][a-z0-9_-]*$/.test(name) ? doc.job : undefined;
  const preview = useQuery(schedulePreview(schedule, job, more ? many : few));
  const zone = schedule.zone && isZone(schedule.zone) ? schedule.zone : "UTC";
  const zoned = f.in(zone);
  const fires = preview.data?.fires ?? [];
  const problem = preview.isError ? problemOf(preview.error) : undefined;
  return (
    <aside className="previewrail">
      <section aria-live="polite">
        <h2>
          {t.editor.next} <span className="right mut">{t.editor.byServer}</span>
        </h2>
        {problem ? (
          <div className="note warn">
            <TriangleAlert size={15} aria-hidden />
            <span>
              <b>{t.editor.invalid}</b>
              {problem.errors?.map((e) => (
                <span key={e.field} className="block">
                  <code>{e.field.replace("schedule.", "")}</code> {e.reason}
                </span>
              )) ?? <span className="block">{problem.detail ?? t.error.codes[problem.code]}</span>}
            </span>
          </div>
        ) : (
          <>
            <p className="mut">{t.job.inZone(zone)}</p>
            <ul className={preview.isPlaceholderData ? "fires stale" : "fires"}>
              {fires.map((fire) => (
                <li key={fire.fire_time} className={fire.skipped ? "skipped" : undefined}>
                  <span className="fday">{zoned.day(fire.fire_time)}</span>
                  <span className="num">{zoned.time(fire.fire_time)}</span>
                  <span className="right mut trunc">
                    {fire.skipped ? (
                      <span className="tag" title={fire.reason}>
                        <CalendarX size={12} aria-hidden />
                        {t.job.skippedFire}
                      </span>
                    ) : (
                      <Ago at={fire.due} />
                    )}
                  </span>
                </li>
              ))}
            </ul>
            {preview.data?.note && <p className="sec">{preview.data.note}</p>}
            {fires.length === few && !more && (
              <Button look="ghost" small onClick={() => setMore(true)}>
                {t.editor.showAll}
              </Button>
            )}
          </>
        )}
      </section>
      {fires[0] && !problem && <Around at={fires[0].due} group={group} zone={zone} />}
      <section>
        <h2>{t.policies.title}</h2>
        <ul className="policies">
          {policiesInWords(doc, t).map((said) => (
            <li key={said}>{said}</li>
          ))}
        </ul>
      </section>
    </aside>
  );
}

/** What else fires within the day of a fire, by quarter of an hour. */
function Around({ at, group, zone }: { at: string; group: string; zone: string }) {
  const t = useEditorT();
  const f = useFormat().in(zone);
  const now = useNow();
  const from = Math.floor(now / 900_000) * 900_000;
  const own = /^[a-z0-9][a-z0-9_-]*$/.test(group) ? group : undefined;
  const counts = useQuery(
    fireCounts(
      { from: new Date(from).toISOString(), to: new Date(from + day).toISOString(), group: own },
      96,
      `around ${from}`,
    ),
  ).data;
  if (!counts) return null;
  const most = Math.max(1, ...counts.counts);
  const total = counts.counts.reduce((a, b) => a + b, 0);
  const mark = Math.floor((Date.parse(at) - from) / (day / 96));
  return (
    <section>
      <h2>{t.editor.load}</h2>
      <svg viewBox="0 0 288 56" className="around" role="img" aria-label={t.editor.perDay(total)}>
        {counts.counts.map((n, i) => (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a quarter is its number
            key={i}
            x={i * 3}
            y={54 - Math.max(n > 0 ? 3 : 1, (n / most) * 50)}
            width={2}
            height={Math.max(n > 0 ? 3 : 1, (n / most) * 50)}
            className={i === mark ? "here" : undefined}
          />
        ))}
        {mark >= 0 && mark < 96 && <rect x={mark * 3} y={0} width={2} height={54} className="here" />}
      </svg>
      <div className="row axis-row mut num">
        {[0, 24, 48, 72].map((i) => (
          <span key={i}>{f.minute(from + i * 900_000)}</span>
        ))}
      </div>
      <p className="mut">
        {own && `${own}: `}
        {t.editor.perDay(total)}
      </p>
    </section>
  );
}

/** A value once it has stayed the same for a while. */
function useSettled(value: Schedule, ms: number): Schedule {
  const [settled, setSettled] = useState(value);
  const key = JSON.stringify(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(JSON.parse(key) as Schedule), ms);
    return () => clearTimeout(timer);
  }, [key, ms]);
  return settled;
}
