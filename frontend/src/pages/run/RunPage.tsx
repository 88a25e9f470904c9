import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import {
  BookmarkCheck,
  ChevronDown,
  ChevronLeft,
  ChevronRight,
  Download,
  Ellipsis,
  FileArchive,
  GitCompare,
  Link2,
  OctagonX,
  RotateCcw,
  SearchX,
} from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { jobQuery } from "@/api/jobs";
import { neighboursQuery, piecesQuery, runQuery } from "@/api/runs";
import type { Run, RunDetail } from "@/api/schema.gen";
import { stepsQuery } from "@/api/steps";
import { Button, IconButton } from "@/components/Button";
import { CauseMark } from "@/components/CauseIcon";
import { CopyIconButton, copyText } from "@/components/Copy";
import { useJobTitle } from "@/components/JobTitle";
import { Menu, MenuItem } from "@/components/Menu";
import { Empty, Failed, Skeleton } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { Status } from "@/components/Status";
import { toast } from "@/components/Toasts";
import { formatDuration } from "@/lib/duration";
import { runsElsewhere } from "@/lib/elsewhere";
import { usePageWords } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { problemOf } from "@/lib/problem";
import { healthOf } from "@/lib/stats";
import { beganAt, durationOf, isFailure, isLiving, isMarkable, wholeOf } from "@/lib/status";
import { useRunNow } from "@/shell/actions";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { CancelDialog } from "./CancelDialog";
import { DeadlineNotice } from "./DeadlineNotice";
import { Details } from "./Details";
import { downloadBundle, downloadLog } from "./download";
import { LogPanel } from "./LogPanel";
import { MarkDialog } from "./Mark";
import { PhaseBar } from "./PhaseBar";
import { PiecePicker, Pieces } from "./Pieces";
import { HoldButton, HoldNotice } from "./workflow/Hold";
import "./run.css";

const RerunDialog = lazy(() => import("./RerunDialog"));
const WorkflowRun = lazy(() => import("./workflow/WorkflowRun"));

/** One run: where its time went, what it printed, and everything known about it. */
export default function RunPage() {
  const { t } = usePageWords();
  const { runId } = useParams({ from: "/runs/$runId" });
  const query = useQuery(runQuery(runId));
  const run = query.data;
  if (!run) {
    const unknown = problemOf(query.error).code === "not_found";
    return (
      <Page crumbs={[{ text: t.nav.runs, to: "/runs" }, { text: shortId(runId) }]}>
        {query.isError ? (
          unknown ? (
            <Empty icon={SearchX} title={t.run.unknown} hint={t.run.unknownHint}>
              <Button onClick={() => void query.refetch()}>{t.act.retry}</Button>
            </Empty>
          ) : (
            <Failed error={query.error} onRetry={() => void query.refetch()} />
          )
        ) : (
          <Skeleton rows={12} />
        )}
      </Page>
    );
  }
  return <Loaded key={runId} detail={run} />;
}

function Loaded({ detail }: { detail: RunDetail }) {
  const { t, f } = usePageWords();
  const navigate = useNavigate();
  const now = useNow();
  const ref = refOf(detail.job);
  const { attempt: wanted, piece } = useSearch({ from: "/runs/$runId" });
  const jobState = useQuery({ ...jobQuery(ref, 1, 72), retry: false });
  const job = jobState.data?.item;
  const [cancelling, setCancelling] = useState(false);
  const [retrying, setRetrying] = useState<{ from?: string }>();
  const [marking, setMarking] = useState(false);
  const operates = useMay()("operate", ref.group);
  // Of what is done elsewhere, nothing can be done again here.
  const elsewhere = runsElsewhere(job?.definition) || detail.attempts.some((a) => a.reported);
  const runNow = useRunNow();
  const title = useJobTitle(detail.job);
  const newest = detail.attempts[0];
  const shown = detail.attempts.find((a) => a.attempt === wanted) ?? newest;
  const living = isLiving(detail.status);
  const inPieces = (shown?.broadcast_total ?? 0) > 0;
  const pieces = useQuery({ ...piecesQuery(detail.run_id, wanted, living), enabled: inPieces }).data;
  // Of another version than that of the run, only the server knows whether it has steps.
  const mayHaveSteps =
    detail.attempts[0]?.cause !== "step" &&
    !jobState.isPending &&
    (job === undefined || job.definition.version !== newest?.version || job.definition.steps !== undefined);
  const steps = useQuery({ ...stepsQuery(detail.run_id), enabled: mayHaveSteps }).data;
  const held = steps?.hold?.resumed_at ? undefined : steps?.hold;
  const usual = job ? healthOf((job.last_runs ?? []).filter((r) => r.status === "succeeded")).p50 : undefined;
  const around = useNeighbours(detail);
  const go = (runId: string | undefined) => runId && void navigate({ to: "/runs/$runId", params: { runId } });
  const compare = () => void navigate({ to: "/runs/$runId/compare", params: { runId: detail.run_id } });
  const again = () =>
    runNow.mutate(
      { job: detail.job },
      { onSuccess: (accepted) => void navigate({ to: "/runs/$runId", params: { runId: accepted.run_id } }) },
    );
  useKeys({
    ...(operates && !elsewhere && { r: again }),
    "[": () => go(around.previous),
    "]": () => go(around.next),
  });
  if (!newest || !shown) return null;
  const first = detail.attempts.at(-1) ?? newest;
  const whole = wholeOf(detail.attempts) ?? newest;
  const duration = durationOf(whole, now);
  const estimate = endOf(whole, usual, now);
  const copied = () => toast({ text: t.act.copied });
  const away = () => toast({ bad: true, text: t.run.logAway });
  const one = piece === "run" ? undefined : chosenPiece(pieces?.items ?? [], piece);
  // A piece of which nothing was heard yet has a log all the same, which is empty.
  const read: Run =
    one ??
    (typeof piece === "number" && inPieces ? { ...shown, broadcast_index: piece, status: "pending" } : shown);
  const choosePiece = (next: number | "run") =>
    void navigate({
      to: "/runs/$runId",
      params: { runId: detail.run_id },
      search: { attempt: wanted, piece: next },
      replace: true,
    });
  const details = (
    <Details detail={detail} run={shown} job={job}>
      {inPieces && pieces && (
        <Pieces
          run={shown}
          total={Math.max(pieces.total, shown.broadcast_total ?? 0)}
          pieces={pieces.items}
          chosen={read.broadcast_index}
          onChoose={choosePiece}
        />
      )}
    </Details>
  );
  return (
    <Page
      fixed
      ownHeading
      crumbs={[
        { text: t.nav.jobs, to: "/jobs" },
        { text: title, to: "/jobs/$group/$name", params: ref },
        { text: t.run.title(shortId(detail.run_id)) },
      ]}
      actions={
        <>
          <span className="row hide-m">
            <IconButton
              icon={ChevronLeft}
              label={t.run.previousRun}
              keys="["
              disabled={!around.previous}
              onClick={() => go(around.previous)}
            />
            <IconButton
              icon={ChevronRight}
              label={t.run.nextRun}
              keys="]"
              disabled={!around.next}
              onClick={() => go(around.next)}
            />
          </span>
          {isFailure(detail.status) && (
            <Button icon={GitCompare} className="hide-s" onClick={compare}>
              {t.run.compare.short}
            </Button>
          )}
          {!elsewhere && (
            <span className="split">
              <Button
                icon={RotateCcw}
                busy={runNow.isPending}
                onClick={again}
                may={operates}
                disabled={job === undefined}
              >
                {t.act.runAgain}
              </Button>
              <Button
                className="more"
                aria-label={t.run.again}
                title={t.run.again}
                may={operates}
                disabled={living || jobState.isPending}
                onClick={() => setRetrying({})}
              >
                <ChevronDown size={14} aria-hidden />
              </Button>
            </span>
          )}
          <Menu trigger={<IconButton icon={Ellipsis} label={t.run.more} />}>
            <MenuItem icon={Link2} onSelect={() => void copyText(location.href).then(copied)}>
              {t.run.copyAddress}
            </MenuItem>
            <MenuItem icon={Download} onSelect={() => void downloadLog(read).catch(away)}>
              {t.run.downloadLog}
            </MenuItem>
            <MenuItem
              icon={FileArchive}
              onSelect={() =>
                void downloadBundle(
                  detail,
                  pieces?.items ?? [],
                  job?.definition.version === shown.version ? job.definition : undefined,
                ).catch(away)
              }
            >
              {t.run.downloadBundle}
            </MenuItem>
            <MenuItem icon={GitCompare} onSelect={compare}>
              {t.run.compare.verb}
            </MenuItem>
            {operates && isMarkable(detail.status) && (
              <MenuItem icon={BookmarkCheck} onSelect={() => setMarking(true)}>
                {t.run.markAs}
              </MenuItem>
            )}
          </Menu>
          {living && operates && steps && !held && <HoldButton runId={detail.run_id} />}
          {living && operates && (
            <Button icon={OctagonX} look="danger" onClick={() => setCancelling(true)}>
              {t.act.cancelRun}
            </Button>
          )}
        </>
      }
      head={
        <div className="runhead">
          <div className="row g3 wrap">
            <span role="status" className="row">
              <Status status={detail.status} pill />
            </span>
            <h1 tabIndex={-1} dir="auto">
              <Link to="/jobs/$group/$name" params={ref} className="plain">
                {title}
              </Link>
            </h1>
            {title !== ref.name && <span className="mono mut">{detail.job}</span>}
            {first.step && first.parent_run_id && (
              <Link
                to="/runs/$runId"
                params={{ runId: first.parent_run_id }}
                search={{ step: first.step }}
                className="link"
              >
                {t.steps.ofRun(first.step, shortId(first.parent_run_id))}
              </Link>
            )}
            <span className="mono mut row g1">
              {shortId(detail.run_id)}
              <CopyIconButton text={detail.run_id} />
            </span>
            <span className="right row g3 sec wrap">
              <CauseMark cause={first.cause} by={first.by} />
              <span className="num">
                {f.dated(first.fire_time, now)}
                {newest.finished_at
                  ? ` → ${f.dated(newest.finished_at, now, first.fire_time)}`
                  : estimate !== undefined && ` → ${t.run.estimate(f.dated(estimate, now))}`}
              </span>
              {duration !== undefined && (
                <b className="big num">
                  {formatDuration(living ? Math.floor(duration / 1000) * 1000 : duration)}
                </b>
              )}
            </span>
          </div>
          {first.committed_at && <PhaseBar attempts={detail.attempts} usual={usual} />}
          {living && <DeadlineNotice runId={detail.run_id} />}
          {living && held && <HoldNotice runId={detail.run_id} hold={held} may={operates} />}
        </div>
      }
    >
      {steps ? (
        <Suspense fallback={<Skeleton rows={10} />}>
          <WorkflowRun detail={detail} steps={steps} onRerun={(from) => setRetrying({ from })}>
            {details}
          </WorkflowRun>
        </Suspense>
      ) : mayHaveSteps && job?.definition.steps && newest.version === job.definition.version ? (
        <Skeleton rows={10} />
      ) : (
        <div className="runbody">
          <div className="logside">
            <LogPanel key={`${read.attempt}.${read.broadcast_index ?? ""}`} run={read}>
              {detail.attempts.length > 1 && (
                <Segments
                  label={t.runlist.attempt(shown.attempt)}
                  value={String(shown.attempt)}
                  options={[...detail.attempts]
                    .reverse()
                    .map((a) => ({ value: String(a.attempt), label: t.runlist.attempt(a.attempt) }))}
                  onChange={(v) =>
                    void navigate({
                      to: "/runs/$runId",
                      params: { runId: detail.run_id },
                      search: { attempt: Number(v) },
                      replace: true,
                    })
                  }
                />
              )}
              {inPieces && (
                <PiecePicker
                  total={Math.max(pieces?.total ?? 0, shown.broadcast_total ?? 0)}
                  chosen={read.broadcast_index}
                  onChoose={choosePiece}
                />
              )}
            </LogPanel>
          </div>
          {details}
        </div>
      )}
      {retrying && (
        <Suspense>
          <RerunDialog
            detail={detail}
            run={shown}
            params={
              detail.params ?? (job?.definition.version === shown.version ? job.definition.params : undefined)
            }
            job={job?.definition}
            steps={steps?.steps}
            from={retrying.from}
            onClose={() => setRetrying(undefined)}
          />
        </Suspense>
      )}
      {marking && <MarkDialog detail={detail} onClose={() => setMarking(false)} />}
      {cancelling && (
        <CancelDialog runId={detail.run_id} job={detail.job} onClose={() => setCancelling(false)} />
      )}
    </Page>
  );
}

/** The piece whose log is shown: the one that was asked for, else the first that failed, else the first. */
function chosenPiece(pieces: Run[], wanted: number | undefined): Run | undefined {
  if (wanted !== undefined) return pieces.find((p) => p.broadcast_index === wanted);
  return pieces.find((p) => isFailure(p.status)) ?? pieces[0];
}

/** When a run will have ended, by what it says of itself, or else by how long the job usually takes. */
function endOf(run: Run, usual: number | undefined, now: number): number | undefined {
  const began = beganAt(run);
  if (run.status !== "running" || !began) return undefined;
  const started = Date.parse(began);
  const took = now - started;
  if (run.percent && run.percent > 1) return started + Math.max(took, (took * 100) / run.percent);
  return usual !== undefined && took < usual ? started + usual : undefined;
}

/** The runs of the job before and after this one, by when they fired. */
function useNeighbours(detail: RunDetail): { previous: string | undefined; next: string | undefined } {
  const at = detail.attempts[0]?.fire_time;
  const both = useQuery({
    ...neighboursQuery(detail.job, detail.run_id, at ?? ""),
    enabled: at !== undefined,
  });
  return { previous: both.data?.previous, next: both.data?.next };
}
