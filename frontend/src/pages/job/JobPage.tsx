import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import {
  ChevronDown,
  CircleCheck,
  CirclePause,
  Copy,
  Ellipsis,
  FileText,
  Hand,
  History,
  Pause,
  Pencil,
  Play,
  Terminal,
  Trash2,
  Zap,
} from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { jobQuery, versionsQuery } from "@/api/jobs";
import type { JobItem } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { copyText } from "@/components/Copy";
import { Menu, MenuItem, MenuLine } from "@/components/Menu";
import { Failed, Skeleton } from "@/components/Panel";
import { Mark } from "@/components/Status";
import { TaskIcon } from "@/components/TaskIcon";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { base } from "@/lib/base";
import { runsElsewhere } from "@/lib/elsewhere";
import { useWords } from "@/lib/format";
import { definitionOf, toYaml } from "@/lib/jobdoc";
import { useNow } from "@/lib/now";
import { pauseOf } from "@/lib/pause";
import { problemOf } from "@/lib/problem";
import { kindOf, zoneOf } from "@/lib/words";
import type { jobTabs } from "@/router";
import { Allowed } from "@/shell/Allowed";
import { usePause, useRunNow } from "@/shell/actions";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import "@/styles/phone.css";
import { DeleteDialog } from "./DeleteDialog";
import { JobOverview } from "./JobOverview";
import { PauseDialog } from "./PauseDialog";
import { RunDialog } from "./RunDialog";

const RunsTab = lazy(() => import("./RunsTab"));
const ScheduleTab = lazy(() => import("./ScheduleTab"));
const DefinitionTab = lazy(() => import("./DefinitionTab"));
const GraphTab = lazy(() => import("./GraphTab"));
const VersionsTab = lazy(() => import("./VersionsTab"));
const LedgerTab = lazy(() => import("./LedgerTab"));
const DeletedJob = lazy(() => import("./DeletedJob"));
const AuditTab = lazy(() => import("./AuditTab"));
const BackfillDialog = lazy(() => import("@/pages/backfill/BackfillDialog"));

type Tab = "overview" | (typeof jobTabs)[number];

/** One job: what it did, what it will do, what it is, and what it was. */
export default function JobPage() {
  const t = usePageT();
  const {
    group,
    name,
    tab = "overview",
  } = useParams({ strict: false }) as { group: string; name: string; tab?: Tab };
  const ref = { group, name };
  const job = useQuery(jobQuery(ref));
  // The record of changes is for administrators; versions say the rest of it to everybody.
  const isAdmin = useMay()("admin", "*");
  const versions = useQuery(versionsQuery(ref)).data?.items.length;
  const item = job.data?.item;
  const tabs: [Tab, number | undefined][] = [
    ["overview", undefined],
    ...(item?.definition.steps ? [["graph", undefined] as [Tab, undefined]] : []),
    ["runs", undefined],
    ["schedule", undefined],
    ["definition", undefined],
    ["versions", versions],
    ["ledger", undefined],
    ...(isAdmin ? [["audit", undefined] as [Tab, undefined]] : []),
  ];
  const crumbs = [
    { text: t.nav.jobs, to: "/jobs" as const },
    { text: group, to: "/jobs" as const, search: { group: [group] } },
    { text: item?.definition.title || name },
  ];
  if (!item) {
    return (
      <Page crumbs={crumbs}>
        {job.isError && problemOf(job.error).code === "not_found" ? (
          <Suspense fallback={<Skeleton rows={10} />}>
            <DeletedJob job={`${group}/${name}`} onRetry={() => void job.refetch()} error={job.error} />
          </Suspense>
        ) : job.isError ? (
          <Failed error={job.error} onRetry={() => void job.refetch()} />
        ) : (
          <Skeleton rows={10} height={46} />
        )}
      </Page>
    );
  }
  return (
    <Page
      crumbs={crumbs}
      ownHeading
      actions={<Actions item={item} />}
      head={
        <div className="jobhead">
          <div className="row g3 title">
            <TaskIcon task={item.definition.task} big />
            <div className="grow">
              <div className="row g2 wrap">
                <h1 tabIndex={-1}>{item.definition.title || name}</h1>
                {item.definition.title && <span className="mono mut">{item.definition.job}</span>}
                <JobState item={item} />
                {runsElsewhere(item.definition) && <span className="tag">{t.job.taskKinds.watch}</span>}
                <span className="tag">v{item.definition.version}</span>
                {item.definition.tags?.map((tag) => (
                  <Link key={tag} to="/jobs" search={{ tag: [tag] }} className="tag o trunc">
                    {tag}
                  </Link>
                ))}
              </div>
              {item.definition.description && <p className="sec d">{item.definition.description}</p>}
            </div>
          </div>
          <nav className="tabs" aria-label={name}>
            {tabs.map(([key, n]) => (
              <Link
                key={key}
                {...(key === "overview"
                  ? { to: "/jobs/$group/$name" as const, params: ref }
                  : { to: "/jobs/$group/$name/$tab" as const, params: { ...ref, tab: key } })}
                className={key === tab ? "tab on" : "tab"}
                aria-current={key === tab ? "page" : undefined}
              >
                {t.job.tabs[key]}
                {n !== undefined && <span className="n">{n}</span>}
              </Link>
            ))}
          </nav>
        </div>
      }
    >
      <Suspense fallback={<Skeleton rows={10} />}>
        {tab === "overview" && <JobOverview item={item} />}
        {tab === "graph" && <GraphTab item={item} />}
        {tab === "runs" && <RunsTab job={item.definition.job} zone={zoneOf(item.definition.schedule)} />}
        {tab === "schedule" && <ScheduleTab item={item} />}
        {tab === "definition" && <DefinitionTab item={item} />}
        {tab === "ledger" && <LedgerTab job={item.definition} zone={zoneOf(item.definition.schedule)} />}
        {tab === "audit" && (
          <Allowed deed="admin" group="*">
            <AuditTab job={item.definition.job} />
          </Allowed>
        )}
        {tab === "versions" && <VersionsTab item={item} etag={job.data?.etag ?? ""} />}
      </Suspense>
    </Page>
  );
}

function JobState({ item }: { item: JobItem }) {
  const { t, f } = useWords();
  const now = useNow();
  const d = item.definition;
  const pause = pauseOf(d, now);
  if (pause)
    return (
      <Mark pill tone="warn" icon={CirclePause}>
        {pause.until ? t.pause.pausedUntil(f.short(pause.until, now)) : t.state.paused}
      </Mark>
    );
  const kind = kindOf(d.schedule);
  if (kind === "manual")
    return (
      <Mark pill tone="idle" icon={Hand}>
        {t.state.manual}
      </Mark>
    );
  if (kind !== "fixed_delay" && item.next_fires.length === 0)
    return (
      <Mark pill tone="idle" icon={CircleCheck}>
        {t.state.ended}
      </Mark>
    );
  return (
    <Mark pill tone="ok" icon={CircleCheck}>
      {t.state.active}
    </Mark>
  );
}

function Actions({ item }: { item: JobItem }) {
  const t = usePageT();
  const navigate = useNavigate();
  const d = item.definition;
  const [group = "", name = ""] = d.job.split("/");
  const [dialog, setDialog] = useState<"run" | "pause" | "delete" | "backfill">();
  const may = useMay();
  const [operates, edits] = [may("operate", group), may("edit", group)];
  const run = useRunNow();
  const elsewhere = runsElsewhere(d);
  const pause = usePause();
  const close = () => setDialog(undefined);
  const edit = () => void navigate({ to: "/jobs/$group/$name/edit", params: { group, name } });
  const paused = pauseOf(d, useNow()) !== undefined;
  const togglePause = () => (paused ? pause.mutate({ job: d.job, paused: false }) : setDialog("pause"));
  useKeys({
    ...(operates && { p: togglePause }),
    ...(operates && !elsewhere && { r: () => run.mutate({ job: d.job }) }),
    ...(edits && { e: edit, d: () => setDialog("delete") }),
  });
  const copied = (text: string) => void copyText(text).then(() => toast({ text: t.act.copied }));
  return (
    <>
      <Button icon={Pencil} className="hide-s" may={edits} onClick={edit}>
        {t.act.edit}
      </Button>
      <Button
        icon={paused ? Play : Pause}
        className="hide-s"
        may={operates}
        busy={pause.isPending}
        onClick={togglePause}
      >
        {paused ? t.act.resume : t.act.pause}
      </Button>
      {!elsewhere && (
        <span className="split">
          <Button
            look="primary"
            icon={Zap}
            may={operates}
            busy={run.isPending}
            onClick={() => run.mutate({ job: d.job })}
          >
            {t.act.run}
          </Button>
          <Menu
            trigger={
              <Button look="primary" may={operates} aria-label={t.act.runWith}>
                <ChevronDown size={14} aria-hidden />
              </Button>
            }
          >
            <MenuItem icon={Zap} onSelect={() => setDialog("run")}>
              {t.act.runWith}
            </MenuItem>
            <MenuItem icon={History} onSelect={() => setDialog("backfill")}>
              {t.act.backfill}
            </MenuItem>
          </Menu>
        </span>
      )}
      <Menu
        trigger={
          <button type="button" className="ic" aria-label={t.act.more}>
            <Ellipsis size={16} aria-hidden />
          </button>
        }
      >
        {operates && (
          <MenuItem icon={paused ? Play : Pause} keys="P" onSelect={togglePause}>
            {paused ? t.act.resume : t.act.pause}
          </MenuItem>
        )}
        {edits && (
          <>
            <MenuItem icon={Pencil} keys="E" onSelect={edit}>
              {t.act.edit}
            </MenuItem>
            <MenuItem
              icon={Copy}
              onSelect={() => void navigate({ to: "/jobs/new", search: { from: d.job } })}
            >
              {t.act.duplicate}
            </MenuItem>
          </>
        )}
        <MenuItem icon={FileText} onSelect={() => void toYaml(definitionOf(d)).then(copied)}>
          {t.act.exportYaml}
        </MenuItem>
        {!elsewhere && (
          <MenuItem
            icon={Terminal}
            onSelect={() =>
              copied(
                `curl -X POST ${base}/api/v1/jobs/${d.job}/run -H 'Content-Type: application/json' -d '{"cause":"api"}'`,
              )
            }
          >
            {t.act.copyCurl}
          </MenuItem>
        )}
        {edits && <MenuLine />}
        {edits && (
          <MenuItem icon={Trash2} danger onSelect={() => setDialog("delete")}>
            {t.act.remove}
          </MenuItem>
        )}
      </Menu>
      {dialog === "pause" && (
        <PauseDialog
          item={item}
          onClose={close}
          onPause={(note, until) => pause.mutateAsync({ job: d.job, paused: true, note, until })}
        />
      )}
      {dialog === "run" && (
        <RunDialog
          item={item}
          onClose={close}
          onRun={(params, labels) => run.mutateAsync({ job: d.job, params, labels })}
        />
      )}
      {dialog === "backfill" && (
        <Suspense>
          <BackfillDialog job={d.job} onClose={close} />
        </Suspense>
      )}
      {dialog === "delete" && (
        <DeleteDialog job={d.job} onClose={close} onDone={() => void navigate({ to: "/jobs" })} />
      )}
    </>
  );
}
