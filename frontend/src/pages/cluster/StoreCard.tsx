import { useQuery } from "@tanstack/react-query";
import { CircleX } from "lucide-react";
import { historyQuery, isBehind } from "@/api/retention";
import { Card } from "@/components/Panel";
import { Mark } from "@/components/Status";
import { Age, Clock } from "@/components/Time";
import { usePageT } from "@/i18n";
import { formatBytes } from "@/lib/bytes";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";

/** What the log store has, and what waits for it. */
export function StoreCard() {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const history = useQuery(historyQuery).data;
  if (!history) return null;
  const waiting = history.backlog.filter((b) => b.messages > 0 || b.unavailable);
  return (
    <Card title={t.bus.store}>
      <div className="b">
        {!history.store_answers && (
          <Mark tone="bad" icon={CircleX}>
            {t.bus.away}
          </Mark>
        )}
        <dl className="dl">
          <dt>{t.bus.complete}</dt>
          <dd>
            <Clock at={history.as_of} />
          </dd>
          {isBehind(history) && (
            <>
              <dt>{t.bus.caughtUpIn}</dt>
              <dd className="num">
                {history.caught_up_at
                  ? t.bus.about(formatDuration(Math.max(Date.parse(history.caught_up_at) - now, 1000)))
                  : t.bus.notCatchingUp}
              </dd>
            </>
          )}
          {history.store_answers && (
            <>
              <dt>{t.bus.onDisk}</dt>
              <dd className="num">{formatBytes(history.bytes)}</dd>
            </>
          )}
          {history.dead_letters > 0 && (
            <>
              <dt>{t.bus.deadLetters}</dt>
              <dd className="c-warn">
                {f.number(history.dead_letters)} · <code className="mono">carillon get dead-letters</code>
              </dd>
            </>
          )}
          {history.disk_bytes > 0 && (
            <>
              <dt>{t.bus.freeDisk}</dt>
              <dd className="num">
                {formatBytes(history.disk_free_bytes)} {t.bus.ofDisk(formatBytes(history.disk_bytes))}
              </dd>
            </>
          )}
          {history.oldest_run && (
            <>
              <dt>{t.bus.oldestRun}</dt>
              <dd>
                <Clock at={history.oldest_run} />
              </dd>
            </>
          )}
          {waiting.map((b) => (
            <Backlog
              key={b.stream}
              stream={b.stream}
              text={[
                b.unavailable ? t.bus.silent : t.bus.backlog(f.number(b.messages)),
                b.per_second && t.bus.fewer(f.number(Math.max(Math.round(b.per_second), 1))),
              ]
                .filter(Boolean)
                .join(" · ")}
              since={b.since}
            />
          ))}
        </dl>
      </div>
    </Card>
  );
}

function Backlog({ stream, text, since }: { stream: string; text: string; since: string | undefined }) {
  return (
    <>
      <dt className="mono">{stream.replace(/^KV_/, "")}</dt>
      <dd className="num">
        {text}
        {since && (
          <>
            {" · "}
            <Age at={since} />
          </>
        )}
      </dd>
    </>
  );
}
