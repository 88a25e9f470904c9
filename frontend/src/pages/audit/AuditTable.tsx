import { Link } from "@tanstack/react-router";
import { ChevronDown, ChevronRight, KeyRound, LogIn, MonitorSmartphone, User } from "lucide-react";
import { Fragment, lazy, Suspense, useState } from "react";
import type { AuditEntry } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { ChangeList } from "@/components/ChangeList";
import { tip } from "@/components/Tips";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import { useMay } from "@/shell/may";

const UndoDialog = lazy(() => import("@/pages/jobs/change/UndoDialog"));

const hows = { session: User, token: KeyRound, local: MonitorSmartphone, "sign-in": LogIn } as const;

interface AuditTableProps {
  entries: AuditEntry[];
  /** Without it the object has no column: all entries are of one. */
  withObject?: boolean;
}

/** Who changed what. A row that has details opens below itself. */
export function AuditTable({ entries, withObject }: AuditTableProps) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => {
    const next = new Set(opened);
    if (!next.delete(id)) next.add(id);
    setOpened(next);
  };
  const c = t.audit.columns;
  return (
    <table className="tbl c audit">
      <thead>
        <tr>
          <th className="opener">
            <span className="sr">{t.audit.details}</span>
          </th>
          <th>{c.at}</th>
          <th>{c.who}</th>
          <th>{c.what}</th>
          {withObject && <th>{c.object}</th>}
          <th>{c.note}</th>
          <th>{c.from}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((e) => {
          const How = hows[e.how];
          const has = (e.changes?.length ?? 0) > 0;
          const open = opened.has(e.id);
          return (
            <Fragment key={e.id}>
              <tr
                className={has ? "click" : undefined}
                onClick={(x) => {
                  if (has && !(x.target instanceof Element && x.target.closest("a,button"))) toggle(e.id);
                }}
              >
                <td className="opener">
                  {has && (
                    <IconButton
                      icon={open ? ChevronDown : ChevronRight}
                      size={14}
                      label={t.audit.details}
                      aria-expanded={open}
                      onClick={() => toggle(e.id)}
                    />
                  )}
                </td>
                <td>
                  <time className="num" dateTime={e.at} title={f.full(e.at)}>
                    {f.short(e.at, now)}
                  </time>
                </td>
                <td>
                  <span className="row g2">
                    <span className="mut row" {...tip(t.audit.how[e.how])}>
                      <How size={14} aria-label={t.audit.how[e.how]} />
                    </span>
                    {e.user}
                    {e.assistant && <span className="mut">{t.audit.byAssistant(e.assistant)}</span>}
                  </span>
                </td>
                <td>
                  {t.audit.operations[e.operation] ?? <code className="mono">{e.operation}</code>}
                  {e.result === "unknown" && <span className="tag tight c-warn">{t.audit.unknown}</span>}
                </td>
                {withObject && (
                  <td>
                    <ObjectName object={e.object} />
                  </td>
                )}
                <td className="result">
                  <Words of={e} />
                </td>
                <td className="mono mut">{e.address ?? "—"}</td>
              </tr>
              {open && (
                <tr className="opened">
                  <td colSpan={withObject ? 7 : 6}>
                    <ChangeList changes={e.changes ?? []} />
                    {e.operation === "patchJobs" && <Undo change={e.id} />}
                  </td>
                </tr>
              )}
            </Fragment>
          );
        })}
      </tbody>
    </table>
  );
}

/** A button that undoes a change of many jobs, after a review. */
function Undo({ change }: { change: string }) {
  const t = usePageT();
  const may = useMay();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button small disabled={!may("edit")} onClick={() => setOpen(true)}>
        {t.jobPatch.undo}
      </Button>
      {open && (
        <Suspense>
          <UndoDialog change={change} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** What was changed, as a link where it has a page. */
function ObjectName({ object }: { object: string }) {
  const t = usePageT();
  const space = object.indexOf(" ");
  const [kind, name] = space < 0 ? [object, ""] : [object.slice(0, space), object.slice(space + 1)];
  const word = <span className="mut">{t.audit.objects[kind] ?? kind}</span>;
  const [group, job] = name.split("/");
  if (kind === "job" && group && job) {
    return (
      <span className="row g2">
        {word}
        <Link to="/jobs/$group/$name" params={{ group, name: job }} className="link trunc" title={name}>
          {name}
        </Link>
      </span>
    );
  }
  if (kind === "run") {
    return (
      <span className="row g2">
        {word}
        <Link to="/runs/$runId" params={{ runId: name }} className="link mono">
          {name.slice(0, 8)}…{name.slice(-4)}
        </Link>
      </span>
    );
  }
  return (
    <span className="row g2">
      {word} {name}
    </span>
  );
}

/** What came of a change, in which a run's id leads to the run, and what its author says of it. */
function Words({ of: { detail, note } }: { of: AuditEntry }) {
  const { say } = useSayer();
  const said = say(detail);
  const runId = detail?.params?.run_id;
  const parts = runId ? said.split(shortId(runId)) : [said];
  return (
    <span className="trunc sec" title={[said, note].filter(Boolean).join(" · ")}>
      {parts[0]}
      {runId && (
        <Link to="/runs/$runId" params={{ runId }} className="link mono">
          {shortId(runId)}
        </Link>
      )}
      {parts[1]}
      {said && note && " · "}
      {note}
    </span>
  );
}
