import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { AlarmClock, BellRing, CircleCheck, UserCheck } from "lucide-react";
import { useState } from "react";
import { alertsKey, answerIncident, incidentQuery, silence, snoozeIncident } from "@/api/alerts";
import type { Incident } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { JobTitle } from "@/components/JobTitle";
import { Menu, MenuItem } from "@/components/Menu";
import { Mark } from "@/components/Status";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { messageOf, summaryOf, useSentence } from "@/lib/sentence";
import { useComplain } from "@/shell/actions";
import { useMay } from "@/shell/may";
import { DeliveryItem } from "./Deliveries";
import { originOf } from "./origin";
import { Severity } from "./Severity";

/** How an incident stands: whether somebody looks after it, or it is snoozed or over. */
export function IncidentMark({ of: i }: { of: Incident }) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  if (i.state === "resolved") {
    return (
      <Mark tone="ok" icon={CircleCheck}>
        {t.alerts.resolved}
      </Mark>
    );
  }
  if (isSnoozed(i, now)) {
    return (
      <Mark tone="idle" icon={AlarmClock}>
        {t.alerts.snoozed(f.short(i.snoozed_until ?? now, now))}
      </Mark>
    );
  }
  if (i.acknowledged_by) {
    return (
      <Mark tone="run" icon={UserCheck}>
        {t.alerts.acknowledged(i.acknowledged_by)}
      </Mark>
    );
  }
  return (
    <Mark tone="bad" icon={BellRing}>
      {t.alerts.open}
    </Mark>
  );
}

function isSnoozed(i: Incident, now: number): boolean {
  return i.state === "open" && i.snoozed_until !== undefined && Date.parse(i.snoozed_until) > now;
}

/** An incident: its runs, the messages that were sent, and the actions on it. */
export function IncidentDrawer({ id, onClose }: { id: string; onClose(): void }) {
  const t = usePageT();
  const a = t.alerts;
  const f = useFormat();
  const say = useSentence();
  const now = useNow();
  const client = useQueryClient();
  const complain = useComplain();
  const may = useMay();
  const [note, setNote] = useState("");
  const incident = useQuery(incidentQuery(id));
  const i = incident.data;
  const done = () => client.invalidateQueries({ queryKey: alertsKey });
  const answer = useMutation({
    mutationFn: (verb: "acknowledge" | "resolve") => answerIncident(id, verb, note),
    onError: complain,
    onSuccess: done,
  });
  const snooze = useMutation({
    mutationFn: (lasts: string) => snoozeIncident(id, lasts, note),
    onError: complain,
    onSuccess: done,
  });
  const hush = useMutation({
    mutationFn: (lasts: string) => silence(i?.alert, undefined, lasts, note),
    onError: complain,
    onSuccess: done,
  });
  if (!i) {
    return (
      <Dialog title={a.incident} open drawer onClose={onClose}>
        <Waiting on={incident} />
      </Dialog>
    );
  }
  const acts = i.state === "open" && may("operate", i.executor_group ?? "*");
  return (
    <Dialog
      title={say(summaryOf(i))}
      hint={
        <span className="row g3 wrap">
          <Severity of={i.severity} />
          <IncidentMark of={i} />
          <span>{i.alert || originOf(i, a)}</span>
          <span className="num">{f.short(i.opened_at, now)}</span>
        </span>
      }
      open
      drawer
      onClose={onClose}
      footer={
        acts && (
          <>
            {may("operate", "*") && i.alert && (
              <>
                <span className="mut">{a.silenceFor}</span>
                {["1h", "24h"].map((lasts) => (
                  <Button key={lasts} busy={hush.isPending} onClick={() => hush.mutate(lasts)}>
                    {lasts}
                  </Button>
                ))}
              </>
            )}
            {isSnoozed(i, now) ? (
              <Button busy={snooze.isPending} onClick={() => snooze.mutate("0s")}>
                {a.wake}
              </Button>
            ) : (
              <Menu trigger={<Button busy={snooze.isPending}>{a.snooze}</Button>}>
                {["1h", "8h", "24h"].map((lasts) => (
                  <MenuItem key={lasts} onSelect={() => snooze.mutate(lasts)}>
                    {a.snoozeFor(lasts)}
                  </MenuItem>
                ))}
              </Menu>
            )}
            <Button busy={answer.isPending} onClick={() => answer.mutate("resolve")}>
              {a.resolve}
            </Button>
            <Button
              look="primary"
              busy={answer.isPending}
              disabled={i.acknowledged_by !== undefined}
              onClick={() => answer.mutate("acknowledge")}
            >
              {a.acknowledge}
            </Button>
          </>
        )
      }
    >
      {(i.note || i.resolution) && (
        <p className="note info">
          {i.note || say({ code: i.resolution_code, params: i.resolution_params, text: i.resolution })}
        </p>
      )}
      {i.jobs && i.jobs.length > 0 && (
        <section>
          <h3 className="lab row">
            {a.jobs}
            <Link to="/errors" search={{ job: i.jobs.map((j) => j.job), range: "7d" }} className="link right">
              {t.nav.errors}
            </Link>
          </h3>
          <ul>
            {i.jobs.map((j) => (
              <li key={j.job} className="li flat wrap">
                <Link to="/jobs/$group/$name" params={refOf(j.job)} className="name">
                  <JobTitle job={j.job} />
                </Link>
                <span className="sec grow said">{say(messageOf(j))}</span>
                {j.run_id && (
                  <Link to="/runs/$runId" params={{ runId: j.run_id }} className="link">
                    {t.act.openRun}
                  </Link>
                )}
                <span className="mut num">{f.short(j.at, now)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h3 className="lab">{a.deliveries}</h3>
        {(i.deliveries ?? []).length === 0 && <p className="mut">{a.noDeliveries}</p>}
        <ul>
          {i.deliveries?.map((d) => (
            <DeliveryItem key={d.delivery} delivery={d} lead={d.channel} />
          ))}
        </ul>
      </section>
      {acts && (
        <label className="f">
          <span className="lab">
            {a.note} <span className="mut">{t.act.optional}</span>
          </span>
          <span className="inp">
            <input value={note} maxLength={4000} onChange={(e) => setNote(e.target.value)} />
          </span>
        </label>
      )}
    </Dialog>
  );
}
