import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CircleCheck, SearchX, X } from "lucide-react";
import { incidentsOf, unresolvedIncidents } from "@/api/alerts";
import { failuresQuery, mostFailures } from "@/api/reports";
import type { Failure, Incident } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { FilterField } from "@/components/FilterField";
import { JobTitle } from "@/components/JobTitle";
import { Owner } from "@/components/Owner";
import { Empty } from "@/components/Panel";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { useRowKeys } from "@/components/useRowKeys";
import { Waiting } from "@/components/Waiting";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { isScoped, scopeSearch } from "@/lib/scope";
import { chartWindow, rangeSearch } from "@/lib/timerange";
import { IncidentDrawer, IncidentMark } from "@/pages/alerts/Incident";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import ScopeChips from "@/shell/ScopeChips";
import { useRange } from "@/shell/useRange";
import { useScope } from "@/shell/useScope";
import { useOwners } from "@/shell/useTitle";
import { CountBars } from "./CountBars";
import "./errors.css";

const parts = 48;

/** Failures grouped by cause: how often, since when, which jobs, and the state of their incident. */
export default function ErrorsPage() {
  const { t, f } = usePageWords();
  const { say, sayError } = useSayer();
  const e = t.errors;
  const now = useNow();
  const navigate = useNavigate({ from: "/errors" });
  const search = useSearch({ from: "/errors" });
  const { job, error, q, incident } = search;
  const ranged = useRange(search);
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const { scope: last, choose } = useScope(search, set);
  const scope = job ? scopeSearch(search) : last; // the jobs of a link may not be in the one chosen last
  const list = useQuery(failuresQuery({ ...scope, job, error }, chartWindow(ranged.range, parts), parts));
  const incidents = useQuery(unresolvedIncidents);
  const words = q?.toLowerCase();
  const all = list.data?.items ?? [];
  const shown = all.filter(
    (x) => !words || `${x.fingerprint}\n${say(x.message)}`.toLowerCase().includes(words),
  );
  const owners = useOwners(shown.flatMap((x) => x.jobs.slice(0, 1)));
  const filtered = Boolean(isScoped(scope) || job || error || q);
  const runsOf = (x: Failure) => ({ error: x.fingerprint, ...ranged.search, ...scope, job });
  const rows = useRowKeys(shown.length, {
    enter: (i) => {
      const x = shown[i];
      if (x) void navigate({ to: "/runs", search: runsOf(x) });
    },
  });
  useKeys(rows.bindings);
  return (
    <Page
      crumbs={[{ text: t.nav.errors }]}
      actions={<RangePicker of={ranged} onChange={set} />}
      head={
        <div className="filters">
          <FilterField
            value={q ?? ""}
            placeholder={e.find}
            onChange={(text) => set({ q: text || undefined })}
          />
          <ScopeChips scope={scope} onChange={choose} />
          {job && (
            <Narrowed name={t.runs.columns.job} to={job.join(", ")} onClear={() => set({ job: undefined })} />
          )}
          {error && <Narrowed name={t.run.error} to={error} onClear={() => set({ error: undefined })} />}
          {filtered && (
            <Button
              look="ghost"
              small
              onClick={() => {
                choose({ group: undefined, owner: undefined, tag: undefined });
                void navigate({ search: rangeSearch({ ...search }) });
              }}
            >
              {t.act.clearFilters}
            </Button>
          )}
          <span className="right mut num">
            {list.data && e.hint(shown.length, f.number(shown.reduce((n, x) => n + x.attempts, 0)))}
          </span>
        </div>
      }
    >
      <RangeNote of={ranged} />
      {!list.data ? (
        <Waiting on={list} rows={12} />
      ) : shown.length === 0 ? (
        filtered ? (
          <Empty icon={SearchX} title={e.noMatch} hint={t.runlist.noneHint} />
        ) : (
          <Empty icon={CircleCheck} title={e.none} hint={e.noneHint} />
        )
      ) : (
        <div className={list.isPlaceholderData ? "stale" : undefined}>
          <Table
            className="errors"
            heads={[
              t.run.error,
              e.overTime,
              { right: e.attempts },
              t.runs.columns.job,
              t.joblist.columns.owner,
              e.lastSeen,
              t.alerts.incident,
            ]}
            actions={t.joblist.columns.actions}
          >
            {shown.map((x, i) => (
              <tr key={x.fingerprint} data-row={i} className={i === rows.marked ? "at" : undefined}>
                <td data-col="error">
                  <Link to="/runs" search={runsOf(x)} className="name mono" title={x.fingerprint}>
                    {saidBy(x.message) || say(x.message) || x.fingerprint}
                  </Link>
                  {saidBy(x.message) && (
                    <span className="tag num">{e.exit(x.message.params?.exit_code ?? "")}</span>
                  )}
                </td>
                <td data-col="bars">
                  <CountBars counts={x.counts ?? []} />
                </td>
                <td data-col="count" className="r num">
                  <b>{f.number(x.attempts)}</b>
                </td>
                <td data-col="jobs">
                  <Hit failure={x} />
                </td>
                <td data-col="owner">
                  {owners[x.jobs[0] ?? ""] ? (
                    <Owner name={owners[x.jobs[0] ?? ""] ?? ""} />
                  ) : (
                    <span className="mut">—</span>
                  )}
                </td>
                <td data-col="seen">
                  <span className="two-lines">
                    <span title={e.seen(f.full(x.first), f.full(x.last))}>
                      <Ago at={x.last} />
                    </span>
                    <span className="mut">{e.since(f.short(x.first, now))}</span>
                  </span>
                </td>
                <td data-col="incident">
                  {incidents.data ? (
                    <Looked
                      at={incidentsOf(incidents.data, x.jobs)}
                      onOpen={(one) => set({ incident: one.incident })}
                    />
                  ) : (
                    <span className="mut" title={incidents.error ? sayError(incidents.error) : undefined}>
                      —
                    </span>
                  )}
                </td>
                <td className="r doing">
                  <span>
                    <Link to="/runs/$runId" params={{ runId: x.last_run_id }} className="link">
                      {e.lastRun}
                    </Link>
                    <Link to="/runs/$runId/compare" params={{ runId: x.last_run_id }} className="link">
                      {t.run.compare.short}
                    </Link>
                  </span>
                </td>
              </tr>
            ))}
          </Table>
          {all.length >= mostFailures && <p className="pad mut">{e.most(mostFailures)}</p>}
        </div>
      )}
      {incident && (
        <IncidentDrawer key={incident} id={incident} onClose={() => set({ incident: undefined })} />
      )}
    </Page>
  );
}

/** What a program said at its end, where the reason has it beside the exit code. */
const saidBy = ({ code, params }: Failure["message"]) =>
  code === "exit_code_said" ? params?.said : undefined;

/** A filter that a link brought, which can only be taken away. */
function Narrowed({ name, to, onClear }: { name: string; to: string; onClear(): void }) {
  const { t } = usePageWords();
  return (
    <span className="row">
      <span className="fchip set" title={to}>
        {name}
        <b className="trunc">{to}</b>
      </span>
      <button type="button" className="fclear" aria-label={`${t.act.clear}: ${name}`} onClick={onClear}>
        <X size={13} aria-hidden />
      </button>
    </span>
  );
}

/** The jobs that failed so, and the versions if it is one job. */
function Hit({ failure: { jobs, job_count, versions } }: { failure: Failure }) {
  const { t } = usePageWords();
  const [first] = jobs;
  if (!first) return null;
  return (
    <span className="two-lines">
      <Link to="/jobs/$group/$name" params={refOf(first)} className="name trunc">
        <JobTitle job={first} />
      </Link>
      <span className="mut trunc" title={job_count > 1 ? jobs.join(", ") : undefined}>
        {job_count > 1
          ? t.errors.andMore(job_count - 1)
          : versions && t.errors.versions(versions.map((v) => `v${v}`).join(", "))}
      </span>
    </span>
  );
}

/** Who looks after it: the state of its incident, or what would make one. */
function Looked({ at: [incident], onOpen }: { at: Incident[]; onOpen(incident: Incident): void }) {
  const { t } = usePageWords();
  const may = useMay();
  if (!incident) {
    return (
      <span className="two-lines">
        <span className="mut">{t.errors.noIncident}</span>
        {may("edit", "*") && (
          <Link to="/alerts/$tab" params={{ tab: "rules" }} className="link">
            {t.errors.toRule}
          </Link>
        )}
      </span>
    );
  }
  return (
    <span className="two-lines">
      <button type="button" className="rowlink" onClick={() => onOpen(incident)}>
        <IncidentMark of={incident} />
      </button>
      {incident.note && (
        <span className="mut trunc" title={incident.note}>
          {incident.note}
        </span>
      )}
    </span>
  );
}
