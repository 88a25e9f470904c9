import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { BellOff, CircleCheck } from "lucide-react";
import { useState } from "react";
import { type IncidentState, incidentList, lastTrouble } from "@/api/alerts";
import type { Delivery, Incident } from "@/api/schema.gen";
import { More } from "@/components/More";
import { Empty } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { Table } from "@/components/Table";
import { Ago } from "@/components/Time";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { deliveryTones, resultOf } from "@/lib/delivery";
import { messageOf, summaryOf, useSentence } from "@/lib/sentence";
import { incidentStates } from "@/router";
import { useMay } from "@/shell/may";
import { Acknowledge } from "./Acknowledge";
import { IncidentDrawer, IncidentMark } from "./Incident";
import { originOf } from "./origin";
import { Severity } from "./Severity";

/** What rules have found: what nobody looks after yet, unless another state is chosen. */
export default function Incidents() {
  const t = usePageT();
  const { state = "firing" } = useSearch({ strict: false }) as { state?: IncidentState };
  const navigate = useNavigate();
  return (
    <>
      <div className="filters">
        <Segments
          label={t.alerts.columns.state}
          value={state}
          options={incidentStates.map((value) => ({ value, label: t.alerts.states[value] }))}
          onChange={(value) =>
            void navigate({ to: ".", search: { state: value === "firing" ? undefined : value } })
          }
        />
      </div>
      <List key={state} state={state} />
    </>
  );
}

function List({ state }: { state: IncidentState }) {
  const t = usePageT();
  const say = useSentence();
  const list = useInfiniteQuery(incidentList(state));
  const { incident: chosen } = useSearch({ strict: false }) as { incident?: string };
  const navigate = useNavigate();
  const choose = (incident?: string) =>
    void navigate({ to: ".", search: { incident, state: state === "firing" ? undefined : state } });
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  const takes = state === "firing";
  const may = useMay();
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const taken = items.filter((i) => marked.has(i.incident));
  const mark = (incident: string) =>
    setMarked((was) => {
      const next = new Set(was);
      if (!next.delete(incident)) next.add(incident);
      return next;
    });
  const drawer = chosen && <IncidentDrawer key={chosen} id={chosen} onClose={() => choose()} />;
  if (!list.data) {
    return (
      <>
        <Waiting on={list} />
        {drawer}
      </>
    );
  }
  const c = t.alerts.columns;
  return (
    <>
      {items.length === 0 ? (
        <Empty
          icon={state === "firing" ? CircleCheck : BellOff}
          title={t.alerts.none[state]}
          hint={t.alerts.noneHint[state]}
        />
      ) : (
        <Table
          heads={[
            ...(takes ? [<th key="choose" className="ckc" aria-label={t.act.more} />] : []),
            c.severity,
            c.what,
            c.rule,
            { right: c.count },
            c.since,
            c.result,
            c.state,
          ]}
          className="incidents"
        >
          {items.map((i) => (
            <tr
              key={i.incident}
              className={marked.has(i.incident) ? "click sel" : "click"}
              onClick={(e) => {
                if (!(e.target instanceof Element && e.target.closest(".ckc"))) choose(i.incident);
              }}
            >
              {takes && (
                <td className="ckc">
                  <input
                    type="checkbox"
                    className="ck"
                    aria-label={t.act.select(say(summaryOf(i)))}
                    disabled={!may("operate", i.executor_group ?? "*")}
                    checked={marked.has(i.incident)}
                    onChange={() => mark(i.incident)}
                  />
                </td>
              )}
              <td data-col="severity">
                <Severity of={i.severity} />
              </td>
              <td className="result">
                <button type="button" className="rowlink trunc" onClick={() => choose(i.incident)}>
                  {say(summaryOf(i))}
                </button>
                <Trouble of={i} />
              </td>
              <td data-col="rule" className="sec">
                {i.alert || originOf(i, t.alerts)}
              </td>
              <td data-col="count" className="r num">
                {i.jobs?.some((j) => j.run_id) ? i.count : "—"}
              </td>
              <td data-col="since" className="mut">
                <Ago at={i.opened_at} />
              </td>
              <td data-col="result">
                <Result of={i.deliveries ?? []} />
              </td>
              <td data-col="state">
                <IncidentMark of={i} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <More of={list} />
      {taken.length > 0 && (
        <Acknowledge chosen={new Set(taken.map((i) => i.incident))} onClear={() => setMarked(new Set())} />
      )}
      {drawer}
    </>
  );
}

/** What the last bad run said; nothing where the summary says it. */
function Trouble({ of: i }: { of: Incident }) {
  const say = useSentence();
  const last = lastTrouble(i);
  if (!last?.message || last.message_code === i.summary_code) return null;
  const text = say(messageOf(last));
  return (
    <span className="mut trunc block" title={text}>
      {text}
    </span>
  );
}

/** What became of the messages that went out. */
function Result({ of: deliveries }: { of: Delivery[] }) {
  const t = usePageT();
  const result = resultOf(deliveries);
  if (!result) return <span className="mut">{t.alerts.noDeliveries}</span>;
  const { outcome, channels } = result;
  const names = channels.join(", ");
  return (
    <span className={`row g1 c-${deliveryTones[outcome]}`}>
      {t.alerts.outcomes[outcome]}
      <span className="sec trunc" title={names}>
        {names}
      </span>
    </span>
  );
}
