import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { retentionQuery } from "@/api/retention";
import type { Run } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Empty } from "@/components/Panel";
import { Remedy } from "@/components/Remedy";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useSayer } from "@/lib/reason";
import { remedyOf } from "@/lib/remedy";
import type { Log } from "./useLog";

/** Why there is no line to show. */
export function NoLines({ run, log, living }: { run: Run; log: Log; living: boolean }) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const printed = run.log_lines ?? 0;
  const gone = !living && printed > 0 && log.state === "ended" && log.buffer.lines.length === 0;
  const retention = useQuery({ ...retentionQuery, enabled: gone, retry: false }).data;
  if (log.state === "refused")
    return <Empty title={t.error.codes.forbidden ?? ""} hint={t.run.hiddenByPolicy} />;
  if (log.buffer.lines.length > 0) return <Empty title={t.run.allHidden} />;
  if (log.state === "waiting")
    return (
      <Empty title={t.run.logAway}>
        <Button onClick={log.retry}>{t.act.retry}</Button>
      </Empty>
    );
  if (living) {
    const begun = run.started_at || run.status === "running";
    return (
      <Empty title={begun ? t.run.waitingLog : t.run.noLogYet(run.attempt)} hint={say(run.reason)}>
        {!begun && remedyOf(run.reason) && <Remedy job={run.job} reason={run.reason} />}
        {!begun && !remedyOf(run.reason) && (
          <Link to="/executors/$group" params={{ group: refOf(run.job).group }} className="btn">
            {t.run.lookAtExecutors(refOf(run.job).group)}
          </Link>
        )}
      </Empty>
    );
  }
  if (gone) {
    const { group } = refOf(run.job);
    const rules = retention?.retention;
    const kept = rules?.jobs?.[run.job]?.logs ?? rules?.groups?.[group]?.logs ?? rules?.default.logs;
    return (
      <Empty
        title={t.run.logGone(printed)}
        hint={run.finished_at && t.run.logGoneHint(f.full(run.finished_at), kept)}
      />
    );
  }
  return log.state === "ended" ? <Empty title={t.run.noLog} hint={say(run.reason ?? run.message)} /> : null;
}
