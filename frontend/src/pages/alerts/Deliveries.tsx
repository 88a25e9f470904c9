import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { deliveriesQuery, mostDeliveries } from "@/api/alerts";
import type { Delivery } from "@/api/schema.gen";
import { Dialog } from "@/components/Dialog";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { deliveryTones, outcomeOf } from "@/lib/delivery";
import { formatDuration, parseDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { reasonOf, summaryOf, useSentence } from "@/lib/sentence";
import { allRanges } from "@/lib/timerange";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import { useRange } from "@/shell/useRange";

/** What went to a channel in a range, a test of just now included, and what the other side said to it. */
export function Deliveries({ channel, onClose }: { channel: string; onClose(): void }) {
  const t = usePageT();
  const a = t.alerts;
  const say = useSentence();
  const navigate = useNavigate();
  const ranged = useRange(useSearch({ strict: false }), { usual: "all", offers: allRanges });
  const list = useQuery(deliveriesQuery(channel, ranged.window));
  return (
    <Dialog
      title={a.deliveriesOf(channel)}
      hint={a.deliveriesHint(mostDeliveries)}
      open
      drawer
      text
      onClose={onClose}
    >
      <p className="row">
        <RangePicker
          of={ranged}
          onChange={(range) => void navigate({ to: ".", search: { channel, ...range }, replace: true })}
        />
      </p>
      <RangeNote of={ranged} />
      {!list.data ? (
        <Waiting on={list} rows={4} />
      ) : list.data.items.length === 0 ? (
        <p className="mut">{a.noDeliveries}</p>
      ) : (
        <ul>
          {list.data.items.map(({ incident, delivery, ...about }) => (
            <DeliveryItem
              key={`${incident}.${delivery.delivery}`}
              delivery={delivery}
              lead={say(summaryOf(about))}
            />
          ))}
        </ul>
      )}
    </Dialog>
  );
}

/** A message: what it was about, or to whom it went, what became of it, and what was answered. */
export function DeliveryItem({ delivery: d, lead }: { delivery: Delivery; lead: string }) {
  const t = usePageT();
  const a = t.alerts;
  const f = useFormat();
  const reason = useSentence()(reasonOf(d));
  const now = useNow();
  const outcome = outcomeOf(d);
  const took = d.answer && formatDuration(parseDuration(d.answer.took) ?? 0);
  return (
    <li className="delivery">
      <div className="li flat">
        <b className="trunc">{lead}</b>
        <span className="mut">{a.kinds[d.kind] ?? d.kind}</span>
        <span className="sec grow trunc" title={reason}>
          {reason}
        </span>
        <span className={`c-${deliveryTones[outcome]}`}>{a.outcomes[outcome]}</span>
        <span className="mut num">{f.short(d.sent_at ?? d.made_at, now)}</span>
      </div>
      {d.answer && (
        <p className="mut">
          {d.answer.status ? a.answered(d.answer.status, took ?? "") : a.took(took ?? "")}
          {d.attempts > 1 && ` · ${a.attempts(d.attempts)}`}
          {outcome === "retrying" && d.next_at && ` · ${a.nextAttempt(f.short(d.next_at, now))}`}
        </p>
      )}
      {d.answer?.body && <pre className="pre">{d.answer.body}</pre>}
    </li>
  );
}
