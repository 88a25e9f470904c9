import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, Clock, Ear, Hourglass, TriangleAlert } from "lucide-react";
import { jobQuery } from "@/api/jobs";
import { pingTokens } from "@/api/pings";
import type { JobItem } from "@/api/schema.gen";
import { Card } from "@/components/Panel";
import { Elapsed } from "@/components/Time";
import { base } from "@/lib/base";
import { hostOf } from "@/lib/elsewhere";
import { always } from "@/lib/every";
import { relative, usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { isFailure } from "@/lib/status";
import { useMay } from "@/shell/may";
import { heardOf } from "./heard";
import { Lines } from "./Lines";
import { PingTokens } from "./PingTokens";

/** What pings say of a job whose runs are done elsewhere; for editors, what to put there, and with which token. */
export default function PingsCard({ item }: { item: JobItem }) {
  const { t } = usePageWords();
  const d = item.definition;
  const ref = refOf(d.job);
  const edits = useMay()("edit", ref.group);
  const tokens = useQuery({ ...pingTokens(ref), enabled: edits, retry: false });
  // Events tell of some pings late: the page must not wait for them.
  useQuery({ ...jobQuery(ref), refetchInterval: always(3000) });
  const used = tokens.data?.items.some((token) => token.last_used_at !== undefined) ?? false;
  return (
    <Card title={t.pings.title} note={t.pings.elsewhere} className="pings">
      <div className="b">
        <State item={item} used={used} />
        {edits && (
          <>
            <Lines job={d} where={{ server: base, token: t.pings.placeholder }} hint={t.pings.linesHint} />
            <PingTokens job={d} list={tokens} />
          </>
        )}
      </div>
    </Card>
  );
}

/** The state in words. The page reads the job anew all the time, so the first ping turns it green by itself. */
function State({ item, used }: { item: JobItem; used: boolean }) {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const now = useNow();
  const w = t.pings;
  if (item.last_runs === null) return <p className="note">{t.jobs.historyAway}</p>;
  const heard = heardOf(item.last_runs, used);
  if (heard.state === "never" || heard.state === "waiting") {
    const next = item.next_fires[0];
    return (
      <p className="note" role="status">
        <Ear size={15} aria-hidden />
        <span>
          <b>{heard.state === "never" ? w.never : w.waiting}</b>{" "}
          {next && w.nextFire(relative(next.due, now, t))}
        </span>
      </p>
    );
  }
  const { run } = heard;
  const host = hostOf(run);
  const bad = heard.state === "late" || isFailure(run.status);
  const looks = {
    expected: ["note", Hourglass],
    running: ["note", Clock],
    late: ["note warn", TriangleAlert],
    ended: [bad ? "note warn" : "note good", bad ? TriangleAlert : CircleCheck],
  } as const;
  const [look, Icon] = looks[heard.state];
  const until = run.reason?.params?.until;
  return (
    <p className={look} role="status">
      <Icon size={15} aria-hidden />
      <span>
        {heard.state === "expected" && (
          <b>{w.expected(f.short(run.fire_time, now), until ? f.short(until, now) : undefined)}</b>
        )}
        {heard.state === "running" && (
          <>
            <b>{w.running(f.short(run.started_at ?? run.fire_time, now), host)}</b>{" "}
            <Elapsed since={run.started_at ?? run.fire_time} />
          </>
        )}
        {heard.state === "late" && (
          <>
            <b>
              {(run.status === "missed" ? w.missed : w.noEnd)(
                f.short(run.status === "missed" ? run.fire_time : (run.started_at ?? run.fire_time), now),
              )}
            </b>{" "}
            {say(run.message ?? run.reason)}
          </>
        )}
        {heard.state === "ended" && (
          <>
            <b>{w.ended(relative(run.finished_at ?? run.fire_time, now, t), host, t.status[run.status])}</b>{" "}
            {bad && say(run.message ?? run.reason)}
          </>
        )}{" "}
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className="link">
          {t.act.openRun}
        </Link>
      </span>
    </p>
  );
}
