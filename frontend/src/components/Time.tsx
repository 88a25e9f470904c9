import { useT } from "@/i18n";
import { formatDuration } from "@/lib/duration";
import { distance, relative, useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";

/** An instant as "5 min ago", with the whole of it on hover. */
export function Ago({ at }: { at: string | number }) {
  const t = useT();
  const f = useFormat();
  const now = useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={f.full(at)}>
      {relative(at, now, t)}
    </time>
  );
}

/** How long ago, without the word. */
export function Age({ at }: { at: string | number }) {
  const t = useT();
  const f = useFormat();
  const now = useNow();
  return (
    <time dateTime={new Date(at).toISOString()} title={f.full(at)}>
      {distance(new Date(at).getTime() - now, t)}
    </time>
  );
}

/** An instant of today as its time, of another day with that. */
export function Clock({ at, className }: { at: string | number; className?: string }) {
  const f = useFormat();
  const now = useNow();
  return (
    <time className={className ?? "num"} dateTime={new Date(at).toISOString()} title={f.full(at)}>
      {f.short(at, now)}
    </time>
  );
}

/** An instant with its day, also today. */
export function DatedClock({ at }: { at: string }) {
  const f = useFormat();
  return (
    <time className="num" dateTime={at} title={f.full(at)}>
      {f.day(at)} {f.time(at)}
    </time>
  );
}

/** How long until an instant, ticking. */
export function Countdown({ at }: { at: string | number }) {
  const t = useT();
  const now = useNow();
  const left = new Date(at).getTime() - now;
  return (
    <span className="num">{left <= 0 ? t.time.now : formatDuration(Math.ceil(left / 1000) * 1000)}</span>
  );
}

/** How long something has gone on, ticking. */
export function Elapsed({ since }: { since: string }) {
  const now = useNow();
  const ms = Math.max(0, now - Date.parse(since));
  return <span className="num">{formatDuration(ms < 60_000 ? Math.floor(ms / 1000) * 1000 : ms)}</span>;
}
