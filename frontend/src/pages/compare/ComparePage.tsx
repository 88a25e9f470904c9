import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { comparedQuery } from "@/api/compare";
import { versionsQuery } from "@/api/jobs";
import { runQuery } from "@/api/runs";
import type { Run, RunDetail } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Diff } from "@/components/CodeEditor";
import { useJobTitle } from "@/components/JobTitle";
import { Card, Empty } from "@/components/Panel";
import { Sideways } from "@/components/Sideways";
import { Status } from "@/components/Status";
import { Waiting } from "@/components/Waiting";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { durationOf, wholeOf } from "@/lib/status";
import { Difference } from "@/pages/job/Difference";
import { phasesOf } from "@/pages/run/phases";
import { Page } from "@/shell/Page";
import { LogDiff } from "./LogDiff";
import "./compare.css";
import { writeJson } from "@/lib/exact";

/** A run beside another of its job, at first the last that succeeded: what differs comes first. */
export default function ComparePage() {
  const { t } = usePageWords();
  const { runId } = useParams({ from: "/runs/$runId/compare" });
  const query = useQuery(runQuery(runId));
  if (query.data) return <Loaded key={runId} detail={query.data} />;
  return (
    <Page crumbs={[{ text: t.nav.runs, to: "/runs" }, { text: t.run.compare.title }]}>
      <Waiting on={query} rows={12} />
    </Page>
  );
}

function Loaded({ detail }: { detail: RunDetail }) {
  const { t, f } = usePageWords();
  const c = t.run.compare;
  const now = useNow();
  const navigate = useNavigate({ from: "/runs/$runId/compare" });
  const { to } = useSearch({ from: "/runs/$runId/compare" });
  const title = useJobTitle(detail.job);
  const compared = useQuery(comparedQuery(detail));
  const others = compared.data;
  const id = to ?? others?.good ?? others?.all[0]?.run_id;
  const beside = useQuery({ ...runQuery(id ?? ""), enabled: id !== undefined });
  const other = beside.data;
  const strange = other !== undefined && other.job !== detail.job;
  return (
    <Page
      crumbs={[
        { text: t.nav.jobs, to: "/jobs" },
        { text: title, to: "/jobs/$group/$name", params: refOf(detail.job) },
        { text: t.run.title(shortId(detail.run_id)), to: "/runs/$runId", params: { runId: detail.run_id } },
        { text: c.title },
      ]}
      head={
        others &&
        id !== undefined && (
          <div className="filters">
            <label className="row g2 with">
              <span className="lab">{c.other}</span>
              <select
                className="select"
                value={id}
                onChange={(e) => void navigate({ search: { to: e.target.value }, replace: true })}
              >
                {!others.all.some((r) => r.run_id === id) && <option value={id}>{shortId(id)}</option>}
                {others.all.map((r) => (
                  <option key={r.run_id} value={r.run_id}>
                    {[
                      shortId(r.run_id),
                      f.dated(r.fire_time, now),
                      t.status[r.status],
                      r.run_id === others.good && c.lastSuccess,
                    ]
                      .filter(Boolean)
                      .join(" · ")}
                  </option>
                ))}
              </select>
            </label>
          </div>
        )
      }
    >
      {others && id === undefined ? (
        <Empty title={c.none} />
      ) : strange ? (
        <Empty title={c.strange} />
      ) : other ? (
        <Both detail={detail} other={other} />
      ) : (
        <Waiting on={beside.isError ? beside : compared} rows={12} />
      )}
    </Page>
  );
}

interface Fact {
  name: string;
  /** What it is of this run and the other, for those who compare, and how it is shown. */
  values: [string, string];
  shown?: [ReactNode, ReactNode];
}

function Both({ detail, other }: { detail: RunDetail; other: RunDetail }) {
  const { t } = usePageWords();
  const c = t.run.compare;
  const facts = useFacts(detail, other);
  const [all, setAll] = useState(false);
  const differ = facts.filter(({ values: [a, b] }) => a !== b);
  const same = facts.filter(({ values: [a, b] }) => a === b);
  const versions = useQuery(versionsQuery(refOf(detail.job))).data?.items;
  const versionOf = (d: RunDetail) => versions?.find((v) => v.version === d.attempts[0]?.version);
  const [now, was] = [versionOf(detail), versionOf(other)];
  const params = (d: RunDetail) => (d.params === undefined ? "" : writeJson(d.params, 2));
  const rows = all ? [...differ, ...same] : differ;
  return (
    <div className="pad grid">
      <Card
        title={c.differs(differ.length)}
        aside={
          <Button look="ghost" small onClick={() => setAll(!all)}>
            {all ? c.hideSame : c.showSame(same.length)}
          </Button>
        }
      >
        <Sideways>
          <table className="tbl c compare">
            <thead>
              <tr>
                <th>
                  <span className="sr">{t.run.details}</span>
                </th>
                {[detail, other].map((d, i) => (
                  <th key={d.run_id}>
                    {i === 0 && `${c.thisOne} `}
                    <Link to="/runs/$runId" params={{ runId: d.run_id }} className="link mono">
                      {shortId(d.run_id)}
                    </Link>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, values, shown = values }) => (
                <tr key={name} className={values[0] === values[1] ? "mut" : undefined}>
                  <th scope="row">{name}</th>
                  <td>{shown[0]}</td>
                  <td>{shown[1]}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Sideways>
      </Card>
      {params(detail) !== params(other) && (
        <Card title={t.run.params}>
          <div className="b">
            <Diff label={t.run.params} before={params(other)} after={params(detail)} language="json" />
          </div>
        </Card>
      )}
      {now && was && now.version !== was.version && (
        <Card title={c.definitions(`v${was.version}`, `v${now.version}`)}>
          <div className="b">
            <Difference before={was} after={now} />
          </div>
        </Card>
      )}
      <LogDiff before={newestOf(other)} after={newestOf(detail)} />
    </div>
  );
}

const newestOf = (d: RunDetail) => d.attempts[0];

/** All that can be told of both runs, in the order in which it is looked for. */
function useFacts(detail: RunDetail, other: RunDetail): Fact[] {
  const { t, f } = usePageWords();
  const { say } = useSayer();
  const now = useNow();
  const c = t.run.compare;
  const both = [detail, other] as const;
  const [mine, theirs] = [wholeOf(detail.attempts), wholeOf(other.attempts)];
  if (!mine || !theirs) return [];
  const pair = (of: (r: Run, d: RunDetail) => string): [string, string] => [
    of(mine, detail),
    of(theirs, other),
  ];
  const took = (ms: number | undefined) => (ms === undefined ? "—" : formatDuration(ms));
  const phases = both.map((d) =>
    phasesOf(
      [...d.attempts].reverse(),
      now,
      undefined,
      t.run.phases,
      t.runlist.attempt,
      (r) => t.run.ended[r.status] ?? "",
    ),
  );
  const labels = [...new Set(phases.flatMap((all) => all.map((p) => p.label)))];
  const inPhase = (i: number, label: string) => took(phases[i]?.find((p) => p.label === label)?.ms);
  return [
    {
      name: t.runlist.status,
      values: pair((r) => t.status[r.status]),
      shown: [<Status key="a" status={mine.status} />, <Status key="b" status={theirs.status} />],
    },
    {
      name: t.run.error,
      values: pair((r) => say(r.message ?? r.reason) || "—"),
    },
    { name: t.run.exitCode, values: pair((r) => String(r.exit_code ?? "—")) },
    { name: t.run.version, values: pair((r) => `v${r.version}`) },
    { name: t.run.executor, values: pair((r) => r.instance ?? "—") },
    { name: t.runs.columns.attempt, values: pair((r) => f.number(r.attempt)) },
    { name: t.run.cause, values: pair((r) => [t.cause[r.cause], r.by].filter(Boolean).join(" · ")) },
    { name: t.runs.columns.duration, values: pair((r) => took(durationOf(r, now))) },
    ...labels.map((label) => ({
      name: label,
      values: [inPhase(0, label), inPhase(1, label)] as [string, string],
    })),
    { name: c.lines, values: pair((r) => f.number(r.log_lines ?? 0)) },
    { name: t.run.fireTime, values: pair((r) => `${f.day(r.fire_time)} ${f.time(r.fire_time)}`) },
  ];
}
