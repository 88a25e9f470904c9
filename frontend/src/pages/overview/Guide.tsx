import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { groupsQuery } from "@/api/cluster";
import { latestRuns } from "@/api/runs";
import { CopyIconButton } from "@/components/Copy";
import { Card } from "@/components/Panel";
import { useT } from "@/i18n";

const command = "carillon executor --group default";

/** What an empty installation shows: the way to a first run, each step ticked off as it happens. */
export function Guide() {
  const t = useT();
  const s = t.overview.steps;
  const connected = useQuery(groupsQuery).data?.items.some((g) => g.instances.length > 0) ?? false;
  const ran = (useQuery(latestRuns({}, 1)).data?.items.length ?? 0) > 0;
  return (
    <Card className="guide">
      <div className="guide-head">
        <h2>{t.overview.start}</h2>
        <p className="sec">{t.overview.startHint}</p>
      </div>
      <ol>
        <Step n={1} done={connected} title={s.executor} hint={s.executorHint}>
          <span className="row g1">
            <code className="pre">{command}</code>
            <CopyIconButton text={command} />
          </span>
        </Step>
        <Step n={2} done={false} title={s.job} hint={s.jobHint}>
          <Link to="/jobs/new" className="btn pri">
            <Plus size={14} aria-hidden />
            {t.act.newJob}
          </Link>
        </Step>
        <Step n={3} done={ran} title={s.run} hint={s.runHint} />
        <Step n={4} done={false} title={s.log} hint={s.logHint} />
      </ol>
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
