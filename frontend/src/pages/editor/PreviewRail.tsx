import { CalendarX, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { Job, Preview, Schedule } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { ClockNote } from "@/components/ClockNote";
import { Ago } from "@/components/Time";
import { useEditorT } from "@/i18n";
import { clockChangeInWords } from "@/lib/clockchange";
import { isZone, useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { policiesInWords } from "@/lib/policies";
import { useSayer } from "@/lib/reason";
import { calendarOf } from "@/lib/skipped";
import { Around } from "./Around";
import { type Foreseen, slugOf } from "./usePreview";
import "./preview.css";

/** How many fires are foreseen at first, and how many on demand. */
export const few = 8;
export const many = 50;

interface PreviewRailProps {
  doc: Job;
  /** What is saved of it, if anything. */
  saved: Schedule | undefined;
  preview: Foreseen;
  more: boolean;
  onMore(): void;
  onChange(schedule: Schedule): void;
  /** What comes first: the graph of a workflow. */
  children?: ReactNode;
}

/** The next fires of what is being edited, as the server computes them. */
export function PreviewRail({ doc, saved, preview, more, onMore, onChange, children }: PreviewRailProps) {
  const t = useEditorT();
  const { say, sayProblem } = useSayer();
  const s = doc.schedule ?? {};
  const zone = s.zone && isZone(s.zone) ? s.zone : "UTC";
  const f = useFormat();
  const zoned = f.in(zone);
  const { data, problem } = preview;
  const fires = data?.fires ?? [];
  const next = fires.find((x) => !x.skipped);
  return (
    <aside className="previewrail" aria-label={t.editor.next} tabIndex={0}>
      {children}
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
                  <code>{e.field.replace("schedule.", "")}</code> {say(e.reason)}
                </span>
              )) ?? <span className="block">{sayProblem(problem)}</span>}
            </span>
          </div>
        ) : (
          <>
            <p className="mut">{t.job.inZone(zone)}</p>
            <ul className={preview.stale ? "fires stale" : "fires"}>
              {fires.map((fire) => (
                <li key={fire.fire_time} className={fire.skipped ? "skipped" : undefined}>
                  <span className="fday">{zoned.day(fire.fire_time)}</span>
                  <span className="num">{zoned.time(fire.fire_time)}</span>
                  <span className="right mut trunc">
                    {fire.skipped ? (
                      <span className="tag" title={say(fire.reason)}>
                        <CalendarX size={12} aria-hidden />
                        <span className="trunc">{calendarOf(fire.reason) ?? t.job.skippedFire}</span>
                      </span>
                    ) : (
                      <Ago at={fire.due} />
                    )}
                  </span>
                  {fire.clock && (
                    <p className="firenote">
                      <ClockNote clock={fire.clock} at={zoned.minute(fire.fire_time)} />
                    </p>
                  )}
                </li>
              ))}
            </ul>
            {data?.note && <p className="sec">{say(data.note)}</p>}
            {!preview.stale &&
              data?.warnings?.map((w) => (
                <p key={w.reason.text} className="note warn">
                  <TriangleAlert size={15} aria-hidden />
                  <span>
                    <code>{w.field.replace("schedule.", "")}</code> {say(w.reason)}
                  </span>
                </p>
              ))}
            {fires.length === few && !more && (
              <Button look="ghost" small onClick={onMore}>
                {t.editor.showAll}
              </Button>
            )}
            {data?.per_year !== undefined && fires.length > 0 && (
              <p className="mut often">{t.editor.often(data.per_day ?? 0, data.per_year, f.number)}</p>
            )}
          </>
        )}
      </section>
      {next && !problem && (
        <Around
          at={next.due}
          group={slugOf(refOf(doc.job).group)}
          zone={zone}
          schedule={s}
          isSaved={JSON.stringify(saved) === JSON.stringify(s)}
          onChange={onChange}
        />
      )}
      {data && !problem && <ClockChanges preview={data} zone={zone} />}
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

/** When clocks are moved next, and what becomes of the fires then. */
function ClockChanges({ preview, zone }: { preview: Preview; zone: string }) {
  const { clock: t } = useEditorT();
  const said = clockChangeInWords(preview, zone, t, useFormat().in("UTC"));
  if (said === undefined) return null;
  return (
    <section>
      <h2>{t.title}</h2>
      <p className="sec">{said}</p>
    </section>
  );
}
