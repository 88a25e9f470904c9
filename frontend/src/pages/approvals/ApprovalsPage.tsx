import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Stamp } from "lucide-react";
import { approvalsQuery } from "@/api/approvals";
import type { Approval } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { JobLink } from "@/components/JobName";
import { Empty } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { Ago, Clock } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { usePageWords } from "@/lib/format";
import { waitAsSentence } from "@/lib/graph/wait";
import { useNow } from "@/lib/now";
import { Decide } from "@/shell/Decide";
import { Page } from "@/shell/Page";
import "./approvals.css";

/** The steps of workflows that wait for somebody's approval: those that one may decide, or all. */
export default function ApprovalsPage() {
  const t = usePageT();
  const w = t.waits;
  const navigate = useNavigate();
  const { all } = useSearch({ from: "/approvals" });
  const list = useQuery(approvalsQuery);
  const items = list.data?.items ?? [];
  const mine = items.filter((a) => a.may);
  const shown = all ? items : mine;
  const show = (which: "mine" | "all") =>
    void navigate({ to: "/approvals", search: { all: which === "all" ? "true" : undefined }, replace: true });
  return (
    <Page crumbs={[{ text: t.nav.approvals }]}>
      {list.data ? (
        <>
          <div className="approvalbar">
            <Segments
              label={w.show}
              value={all ? "all" : "mine"}
              options={[
                { value: "mine", label: w.mine(mine.length) },
                { value: "all", label: w.all(items.length) },
              ]}
              onChange={show}
            />
          </div>
          {shown.length > 0 ? (
            <ul className="approvals">
              {shown.map((a) => (
                <Item key={`${a.run_id} ${a.step}`} of={a} />
              ))}
            </ul>
          ) : items.length > 0 ? (
            <Empty icon={Stamp} title={w.noneMine} hint={w.noneMineHint(items.length)}>
              <Button onClick={() => show("all")}>{w.all(items.length)}</Button>
            </Empty>
          ) : (
            <Empty icon={Stamp} title={w.none} hint={w.noneHint} />
          )}
        </>
      ) : (
        <Waiting on={list} rows={4} height={96} />
      )}
    </Page>
  );
}

/** A step that waits for approval: what it is part of, since when, who may decide, and the decision. */
function Item({ of }: { of: Approval }) {
  const words = usePageWords();
  const w = words.t.waits;
  const now = useNow();
  const { wait } = of;
  return (
    <li>
      <div className="two-lines">
        <h2>
          <Link
            to="/runs/$runId"
            params={{ runId: of.run_id }}
            search={{ step: of.step }}
            className="link"
            dir="auto"
          >
            {of.title ?? of.step}
          </Link>
          {of.title && <span className="mono mut">{of.step}</span>}
        </h2>
        <p className="meta">
          <JobLink job={of.job} />
          <span className="mut">
            {w.firedAt} <Clock at={of.fire_time} />
          </span>
          <span className="mut">
            {of.requester_unknown
              ? w.byUnknown
              : of.requested_by
                ? w.byRequester(of.requested_by)
                : w.bySchedule}
          </span>
        </p>
        <p className="meta">
          <span>{waitAsSentence(wait, now, words)}</span>
          {wait.not_by_requester && <span className="mut">{w.notRequester}</span>}
          {wait.since && (
            <span className="mut">
              {w.since} <Ago at={wait.since} />
            </span>
          )}
          {wait.expires_at && (
            <span className="mut">
              {w.expires} <Ago at={wait.expires_at} />
            </span>
          )}
        </p>
        {wait.approvals?.map((a) => (
          <p key={a.by} className="meta mut">
            {w.given} {a.by} <Clock at={a.at} /> {a.note}
          </p>
        ))}
      </div>
      <div className="decide">
        <Decide of={of} />
      </div>
    </li>
  );
}
