import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Gauge, Pause, Play } from "lucide-react";
import { useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { handlersQuery } from "@/api/groups";
import { jobsOfGroup } from "@/api/jobs";
import type { Group } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { JobTitle } from "@/components/JobTitle";
import { Card } from "@/components/Panel";
import { InstanceState } from "@/components/Status";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useComplain } from "@/shell/actions";
import { GroupPauseNote } from "@/shell/GroupPauseNote";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { SecretsCard } from "@/shell/SecretsCard";
import { Credentials } from "./Credentials";
import { GroupPauseDialog } from "./GroupPauseDialog";
import { GroupUsage } from "./GroupUsage";
import { InstanceTable } from "./InstanceTable";
import { LimitsDialog } from "./LimitsDialog";
import { QueueCard } from "./QueueCard";
import { StartCommand } from "./StartCommand";
import { useGroupPause } from "./useGroupPause";

/** One executor group: who works in it, how much at once, and with which keys. */
export default function GroupPage() {
  const t = usePageT();
  const { group: name = "" } = useParams({ strict: false });
  const groups = useQuery(groupsQuery);
  const [dialog, setDialog] = useState<"limits" | "pause">();
  const close = () => setDialog(undefined);
  const complain = useComplain();
  const may = useMay();
  const admin = may("admin", name);
  // A group is there once a job names it, or an executor: before that it is empty, and may be prepared.
  const known = groups.data?.items.find((g) => g.executor_group === name);
  const group = groups.data && (known ?? absent(name));
  const pause = useGroupPause(name, known?.pause);
  return (
    <Page
      crumbs={[{ text: t.executors.title, to: "/executors" }, { text: name }]}
      actions={
        <>
          <Link to="/jobs" search={{ group: [name] }} className="btn hide-s">
            {t.nav.jobs}
          </Link>
          <Link to="/runs" search={{ group: name }} className="btn hide-s">
            {t.nav.runs}
          </Link>
          {group?.pause ? (
            <Button
              icon={Play}
              may={may("operate", name)}
              busy={pause.isPending}
              onClick={() => pause.mutate({ paused: false }, { onError: complain })}
            >
              {t.fleet.pause.resume}
            </Button>
          ) : (
            <Button
              icon={Pause}
              may={may("operate", name)}
              disabled={!known}
              onClick={() => {
                pause.reset(); // what was refused before
                setDialog("pause");
              }}
            >
              {t.fleet.pause.verb}
            </Button>
          )}
          <Button
            icon={Gauge}
            disabled={!admin || !group}
            title={admin ? undefined : t.signIn.needs}
            onClick={() => setDialog("limits")}
          >
            {t.fleet.setLimits}
          </Button>
        </>
      }
    >
      <div className="pad">
        {!group ? (
          <Waiting on={groups} />
        ) : (
          <div className="grid">
            <GroupPauseNote group={group} />
            <Card
              title={t.fleet.instances}
              note={group.state !== "online" && <InstanceState state={group.state} pill />}
            >
              {group.instances.length === 0 ? (
                <div className="b">
                  <p className="sec">{t.fleet.waits}</p>
                  <StartCommand group={name} />
                </div>
              ) : (
                <>
                  <InstanceTable instances={group.instances} />
                  {group.more_instances !== undefined && (
                    <p className="b sec">{t.executors.moreInstances(group.more_instances)}</p>
                  )}
                </>
              )}
            </Card>
            {known && <GroupUsage group={known} />}
            {known && <QueueCard group={known} />}
            <div className="grid two-up">
              <Limits group={group} />
              <Priorities group={name} />
            </div>
            {admin && <Credentials group={name} />}
            {may("edit", name) && <SecretsCard group={name} />}
            <Handlers group={name} />
          </div>
        )}
      </div>
      {dialog === "limits" && group && <LimitsDialog group={group} onClose={close} />}
      {dialog === "pause" && <GroupPauseDialog group={name} pause={pause} onClose={close} />}
    </Page>
  );
}

function absent(name: string): Group {
  return { executor_group: name, state: "empty", instances: [] };
}

function Limits({ group: g }: { group: Group }) {
  const t = usePageT();
  const f = useFormat();
  const slots = g.instances.reduce((n, i) => n + i.slots, 0);
  return (
    <Card title={t.fleet.limits}>
      <dl className="dl b">
        <dt>{t.fleet.limit}</dt>
        <dd>{g.limit === undefined ? t.fleet.noLimit : f.number(g.limit)}</dd>
        <dt>{t.fleet.rate}</dt>
        <dd>{g.rate === undefined ? t.fleet.noLimit : f.number(g.rate)}</dd>
        {g.started_by && (
          <>
            <dt>{t.fleet.startedBy}</dt>
            <dd>{g.started_by.join(", ")}</dd>
          </>
        )}
        <dt>{t.fleet.slotsHere}</dt>
        <dd>{f.number(slots)}</dd>
        <dt>{t.fleet.howBegun}</dt>
        <dd>{g.dispatched ? t.fleet.dispatched : t.fleet.pulled}</dd>
        {g.dispatched && (
          <>
            <dt>{t.fleet.waitingNow}</dt>
            <dd className={g.waiting ? "c-warn" : undefined}>{f.number(g.waiting ?? 0)}</dd>
          </>
        )}
      </dl>
    </Card>
  );
}

/** So many jobs are named. */
const named = 12;

/** Which of the group's jobs go before others, and which after. */
function Priorities({ group }: { group: string }) {
  const t = usePageT();
  const jobs = useQuery(jobsOfGroup(group)).data?.items ?? [];
  const special = jobs
    .map((j) => j.definition)
    .filter((d) => d.priority !== undefined && d.priority !== "normal")
    .sort((a, b) => (a.priority ?? "").localeCompare(b.priority ?? "") || a.job.localeCompare(b.job));
  return (
    <Card title={t.fleet.priorities} note={t.fleet.prioritiesHint}>
      {special.length === 0 ? (
        <p className="b sec">{t.fleet.allNormal}</p>
      ) : (
        <ul className="list">
          {special.slice(0, named).map((d) => (
            <li key={d.job} className="li tight">
              <Link to="/jobs/$group/$name" params={refOf(d.job)} className="name grow trunc">
                <JobTitle job={d.job} keyed />
              </Link>
              <span className={d.priority === "high" ? "tag c-warn" : "tag"}>
                {t.fleet.priority[d.priority ?? "normal"]}
              </span>
            </li>
          ))}
          {special.length > named && <li className="li tight mut">{t.fleet.more(special.length - named)}</li>}
        </ul>
      )}
    </Card>
  );
}

function Handlers({ group }: { group: string }) {
  const t = usePageT();
  const list = useQuery(handlersQuery(group));
  return (
    <Card title={t.fleet.handlers} note={t.fleet.handlersHint}>
      {!list.data ? (
        <Waiting on={list} rows={2} />
      ) : list.data.items.length === 0 ? (
        <p className="b sec">{t.fleet.noHandlers}</p>
      ) : (
        <ul className="list">
          {list.data.items.map((h) => (
            <li key={h.handler} className="li">
              <span className="two-lines grow">
                <b className="mono">{h.handler}</b>
                {h.description && <span className="sec trunc">{h.description}</span>}
              </span>
              <span className="mut mono">{h.version}</span>
              <span className={h.instances.length > 0 ? "c-ok" : "mut"}>
                {t.executors.onlineCount(h.instances.length)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
