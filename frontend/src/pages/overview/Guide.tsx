import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { rulesQuery } from "@/api/alerts";
import { groupsQuery } from "@/api/cluster";
import { latestRuns } from "@/api/runs";
import { Button } from "@/components/Button";
import { CopyIconButton } from "@/components/Copy";
import { Card } from "@/components/Panel";
import { useT } from "@/i18n";
import { isLiving } from "@/lib/status";
import { useMay } from "@/shell/may";

const command = "carillon executor --group default";

/** What an empty installation shows: the way to a first run, each step ticked off as it happens. */
export default function Guide({ jobs, onDone }: { jobs: number; onDone(): void }) {
  const t = useT();
  const s = t.overview.steps;
  const may = useMay();
  const connected = useQuery(groupsQuery).data?.items.some((g) => g.instances.length > 0) ?? false;
  const first = useQuery(latestRuns({}, 1)).data?.items[0];
  const ran = first !== undefined && !isLiving(first.status);
  // The rules that exist from the start reach nobody until somebody adds a channel.
  const alerts =
    useQuery({ ...rulesQuery, retry: false }).data?.items.some(
      (rule) => (rule.definition.channels ?? []).length > 0,
    ) ?? false;
  return (
    <Card className="guide">
      <div className="guide-head">
        <h2>{ran ? t.overview.started : t.overview.start}</h2>
        <p className="sec">{ran ? t.overview.startedHint : t.overview.startHint}</p>
      </div>
      <ol>
        <Step n={1} done={connected} title={s.executor} hint={s.executorHint}>
          <span className="row g1">
            <code className="pre">{command}</code>
            <CopyIconButton text={command} />
          </span>
        </Step>
        <Step n={2} done={jobs > 0} title={s.job} hint={s.jobHint}>
          {may("edit") && jobs === 0 && (
            <Link to="/jobs/new" className="btn pri">
              <Plus size={14} aria-hidden />
              {t.act.newJob}
            </Link>
          )}
        </Step>
        <Step n={3} done={ran} title={s.run} hint={s.runHint}>
          {jobs > 0 && !ran && (
            <Link to="/jobs" className="btn pri">
              {t.nav.jobs}
            </Link>
          )}
        </Step>
        <Step n={4} done={alerts} title={s.alert} hint={s.alertHint}>
          {ran && !alerts && (
            <Link to="/alerts/$tab" params={{ tab: "rules" }} className="btn">
              {t.nav.alerts}
            </Link>
          )}
        </Step>
      </ol>
      {ran && (
        <div className="guide-head">
          <Button look="primary" onClick={onDone}>
            {t.overview.goOn}
          </Button>
        </div>
      )}
    </Card>
  );
}

function Step({
  n,
  done,
  title,
  hint,
  children,
}: {
  n: number;
  done: boolean;
  title: string;
  hint: string;
  children?: ReactNode;
}) {
  return (
    <li className={done ? "done" : undefined}>
      <span className="n">{done ? <Check size={14} aria-hidden /> : n}</span>
      <span className="grow">
        <b>{title}</b>
        <span className="sec block">{hint}</span>
      </span>
      {children}
    </li>
  );
}
