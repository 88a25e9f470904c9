import { Link } from "@tanstack/react-router";
import {
  CalendarOff,
  CalendarX2,
  CircleHelp,
  Clock,
  FileX2,
  LoaderCircle,
  type LucideIcon,
  SkipForward,
  TriangleAlert,
} from "lucide-react";
import type { Answer as Said } from "@/api/schema.gen";
import { Card } from "@/components/Panel";
import { Mark, Status } from "@/components/Status";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { say } from "@/lib/reason";
import type { Tone } from "@/lib/status";
import { Remedies } from "./Remedies";
import "./why.css";

const marks: Record<Said["verdict"], [Tone, LucideIcon]> = {
  ran: ["ok", Clock],
  runs: ["run", LoaderCircle],
  waits: ["warn", Clock],
  skipped: ["idle", SkipForward],
  missed: ["warn", CalendarX2],
  unknown: ["idle", CircleHelp],
  disagrees: ["bad", TriangleAlert],
  will_run: ["ok", Clock],
  will_skip: ["warn", SkipForward],
  no_fire: ["idle", CalendarOff],
  no_job: ["idle", FileX2],
};

/** The sentence, the fires next to the minute, and what helps. Its times are in the zone of the job. */
export function Answer({ answer: a }: { answer: Said }) {
  const { t, f } = usePageWords();
  const there = f.in(a.zone);
  const [tone, icon] = marks[a.verdict];
  const { and, ...lead } = a.reason;
  return (
    <Card
      title={
        <Link to="/jobs/$group/$name" params={refOf(a.job)} className="link mono">
          {a.job}
        </Link>
      }
      aside={
        a.verdict === "ran" && a.fire?.status ? (
          <Status status={a.fire.status} pill />
        ) : (
          <Mark tone={tone} icon={icon} pill>
            {t.why.verdicts[a.verdict]}
          </Mark>
        )
      }
    >
      <div className="b whyanswer">
        <p className="lead">{say(lead, t, there)}</p>
        {and && <p>{say(and, t, there)}</p>}
        <Remedies answer={a} />
        {(a.before || a.after) && (
          <dl className="near">
            {(
              [
                ["before", a.before],
                ["after", a.after],
              ] as const
            ).map(
              ([side, at]) =>
                at && (
                  <div key={side}>
                    <dt>{t.why[side]}</dt>
                    <dd>
                      <Link to="/why" search={{ job: a.job, at }} className="link num">
                        {there.full(at)}
                      </Link>
                    </dd>
                  </div>
                ),
            )}
          </dl>
        )}
        <p className="mut note-s">{t.why.inZone(a.zone)}</p>
      </div>
    </Card>
  );
}
