import {
  ArrowDown,
  ArrowUp,
  ChevronDown,
  ChevronUp,
  Download,
  Maximize2,
  Minimize2,
  Search,
  Timer,
} from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { logLines } from "@/api/runs";
import type { LogLine, Run } from "@/api/schema.gen";
import { IconButton } from "@/components/Button";
import { copyText } from "@/components/Copy";
import { Dialog } from "@/components/Dialog";
import { Empty } from "@/components/Panel";
import { toast } from "@/components/Toasts";
import { plainText } from "@/lib/ansi";
import { formatDuration } from "@/lib/duration";
import { useWords } from "@/lib/format";
import { visibleRows } from "@/lib/logbuffer";
import { isFailure, isLiving } from "@/lib/status";
import { useKeys } from "@/shell/keys";
import { LogRow } from "./LogRow";
import { LogStrip } from "./LogStrip";
import { useLog } from "./useLog";

const row = 20;
const allLevels = ["debug", "info", "warn", "error"];
const times = ["clock", "delta", "none"] as const;

interface LogPanelProps {
  run: Run;
}

/** The log of one attempt, or of one piece of it: live while it runs, windowed however long it is. */
export function LogPanel({ run }: LogPanelProps) {
  const { t, f } = useWords();
  const log = useLog(run.run_id, run.attempt, run.job, run.broadcast_index);
  const living = isLiving(run.status);
  const scroller = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [following, setFollowing] = useState(living && !location.hash.startsWith("#L"));
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [needle, setNeedle] = useState("");
  const [match, setMatch] = useState(0);
  const [time, setTime] = useState<(typeof times)[number]>("clock");
  const [full, setFull] = useState(false);
  const [whole, setWhole] = useState<LogLine>();
  const [link, setLink] = useState(() => parseLink(location.hash));
  const [seen, setSeen] = useState(0);

  const { buffer, version } = log;
  // biome-ignore lint/correctness/useExhaustiveDependencies: version stands for the buffer's content
  const lines = useMemo(
    () => (hidden.size === 0 ? buffer.lines : buffer.lines.filter((l) => !hidden.has(l.level))),
    [buffer, version, hidden],
  );
  const look = needle.trim().toLowerCase();
  const matches = useMemo(() => {
    if (look === "") return [];
    const at: number[] = [];
    lines.forEach((l, i) => {
      if (plainText(l.text).toLowerCase().includes(look)) at.push(i);
    });
    return at;
  }, [lines, look]);
  const currentRow = matches[match] ?? -1;

  const scrollTo = useCallback((index: number) => {
    const el = scroller.current;
    if (el) el.scrollTop = Math.max(0, index * row - el.clientHeight / 3);
  }, []);

  // Where a log opens: at the linked line; at the first error of a failed run, or at the end where it has
  // none; at the beginning of any other run that has ended. One that is still printing is followed.
  const opened = useRef(false);
  useLayoutEffect(() => {
    if (opened.current || lines.length === 0) return;
    if (link) {
      if ((buffer.first ?? 0) > link[0] && log.hasEarlier) {
        void log.loadEarlier();
        return;
      }
      scrollTo(buffer.indexOf(link[0]));
    } else if (isFailure(run.status)) {
      const first = lines.findIndex((l) => l.level === "error");
      scrollTo(first < 0 ? lines.length : first);
    } else if (!living) {
      scrollTo(0);
    }
    opened.current = true;
  }, [lines, link, buffer, log, living, run.status, scrollTo]);

  // Lines that were put in before must not move those on the screen.
  const firstSeq = buffer.first;
  const held = useRef({ first: firstSeq, n: lines.length });
  useLayoutEffect(() => {
    const el = scroller.current;
    const was = held.current;
    if (el && opened.current && was.first !== undefined && firstSeq !== undefined && firstSeq < was.first) {
      el.scrollTop += (lines.length - was.n) * row;
    }
    held.current = { first: firstSeq, n: lines.length };
  }, [firstSeq, lines.length]);

  // Whoever has left the end since the last drawing is not taken back to it: the browser tells of a
  // scroll only with its next frame, and lines may be drawn before that.
  const leftAt = useRef<number>(undefined);
  const letGo = useCallback(() => {
    setFollowing(false);
    setSeen(buffer.last ?? 0);
  }, [buffer]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each drawing of new lines follows the end
  useLayoutEffect(() => {
    const el = scroller.current;
    if (!el || !following) {
      leftAt.current = undefined;
      return;
    }
    const end = el.scrollHeight - el.clientHeight;
    if (el.scrollTop < Math.min(leftAt.current ?? 0, end) - row * 2) {
      letGo();
      return;
    }
    el.scrollTop = end;
    leftAt.current = el.scrollTop;
  }, [following, version, lines.length, letGo]);

  useEffect(() => {
    const el = scroller.current;
    if (!el) return;
    const update = () => setView({ top: el.scrollTop, height: el.clientHeight });
    update();
    const observer = new ResizeObserver(update);
    observer.observe(el);
    return () => observer.disconnect();
  }, []);

  const onScroll = () => {
    const el = scroller.current;
    if (!el) return;
    setView({ top: el.scrollTop, height: el.clientHeight });
    const atEnd = el.scrollHeight - el.scrollTop - el.clientHeight < row * 2;
    if (following && !atEnd) letGo();
    else if (!following && atEnd && living) setFollowing(true);
    if (el.scrollTop < 2000 && log.hasEarlier) void log.loadEarlier();
  };
  const toEnd = () => {
    const el = scroller.current;
    if (el) el.scrollTop = el.scrollHeight;
    if (living) setFollowing(true);
  };
  const toggleFollow = () => {
    if (following) letGo();
    else toEnd();
  };
  const find = (step: number) => {
    if (matches.length === 0) return;
    const next = (match + step + matches.length) % matches.length;
    setMatch(next);
    setFollowing(false);
    scrollTo(matches[next] ?? 0);
  };
  const onLink = useCallback((seq: number, range: boolean) => {
    setLink((was) => {
      const next: [number, number] =
        range && was ? [Math.min(was[0], seq), Math.max(was[0], seq)] : [seq, seq];
      const hash = next[0] === next[1] ? `#L${seq}` : `#L${next[0]}-${next[1]}`;
      window.history.replaceState(window.history.state, "", `${location.pathname}${location.search}${hash}`);
      void copyText(location.href);
      return next;
    });
  }, []);

  useKeys({
    f: toggleFollow,
    "mod+f": () => field.current?.focus(),
    n: () => find(1),
    N: () => find(-1),
    "g g": () => scroller.current?.scrollTo(0, 0),
    G: toEnd,
    m: () => setTime((was) => times[(times.indexOf(was) + 1) % times.length] ?? "clock"),
  });

  const [from, to] = visibleRows(view.top, view.height, row, lines.length);
  const began = run.started_at ? Date.parse(run.started_at) : 0;
  const timeOf = (l: LogLine) => {
    if (time === "none") return "";
    return time === "clock" ? f.millis(l.at) : `+${formatDuration(Math.max(0, Date.parse(l.at) - began))}`;
  };
  const fresh = following ? 0 : lines.length - buffer.indexOf(seen + 1);
  const toggleLevel = (level: string) => {
    const next = new Set(hidden);
    if (!next.delete(level)) next.add(level);
    setHidden(next);
  };
  return (
    <section className={full ? "logpanel full" : "logpanel"} aria-label={t.run.log}>
      <div className="logbar">
        <div className="inp sm find-log">
          <Search size={14} aria-hidden />
          <input
            ref={field}
            value={needle}
            placeholder={t.run.find}
            aria-label={t.run.find}
            onChange={(e) => {
              setNeedle(e.target.value);
              setMatch(0);
            }}
            onKeyDown={(e) => {
              if (e.key === "Enter" && !e.nativeEvent.isComposing) find(e.shiftKey ? -1 : 1);
              if (e.key === "Escape") {
                setNeedle("");
                e.currentTarget.blur();
              }
            }}
          />
          {look !== "" && (
            <>
              <span className="mut num nowrap">
                {matches.length === 0 ? t.run.noMatches : t.run.matches(match + 1, matches.length)}
              </span>
              <button type="button" className="clear" aria-label={t.run.previous} onClick={() => find(-1)}>
                <ChevronUp size={14} aria-hidden />
              </button>
              <button type="button" className="clear" aria-label={t.run.next} onClick={() => find(1)}>
                <ChevronDown size={14} aria-hidden />
              </button>
            </>
          )}
        </div>
        {allLevels.map(
          (level) =>
            (buffer.counts[level] ?? 0) > 0 && (
              <button
                type="button"
                key={level}
                className={hidden.has(level) ? "chip b level off" : "chip b level"}
                aria-pressed={!hidden.has(level)}
                onClick={() => toggleLevel(level)}
              >
                <i className={`lv-${level}`} />
                {t.run.levels[level]} <span className="mut num">{f.number(buffer.counts[level] ?? 0)}</span>
              </button>
            ),
        )}
        <span className="right row g1">
          <IconButton
            icon={Timer}
            label={`${t.run.timeFormat}: ${{ clock: t.run.clock, delta: t.run.delta, none: t.run.noTime }[time]}`}
            keys="M"
            onClick={() => setTime(times[(times.indexOf(time) + 1) % times.length] ?? "clock")}
          />
          <IconButton
            icon={Download}
            label={t.act.download}
            onClick={() => void download(run, () => toast({ bad: true, text: t.run.logAway }))}
          />
          <IconButton
            icon={full ? Minimize2 : Maximize2}
            label={full ? t.run.exitFullScreen : t.run.fullScreen}
            onClick={() => setFull(!full)}
          />
        </span>
      </div>
      {lines.length > 40 && (
        <LogStrip
          lines={lines}
          version={version + hidden.size}
          from={view.top / (lines.length * row)}
          to={Math.min(1, (view.top + view.height) / (lines.length * row))}
          onJump={(share) => scrollTo(Math.floor(share * lines.length))}
        />
      )}
      <div
        className={`log time-${time}`}
        ref={scroller}
        onScroll={onScroll}
        role="log"
        aria-live="off"
        tabIndex={0}
        aria-label={t.run.log}
      >
        {lines.length === 0 ? (
          <Nothing
            run={run}
            refused={log.state === "refused"}
            loading={log.state !== "ended"}
            living={living}
          />
        ) : (
          <div style={{ height: lines.length * row }} className="lines">
            <div style={{ transform: `translateY(${from * row}px)` }}>
              {lines.slice(from, to).map((line, i) => (
                <LogRow
                  key={line.seq}
                  line={line}
                  time={timeOf(line)}
                  needle={look}
                  current={from + i === currentRow}
                  linked={link !== undefined && line.seq >= link[0] && line.seq <= link[1]}
                  onLink={onLink}
                  onWhole={setWhole}
                />
              ))}
            </div>
          </div>
        )}
      </div>
      <div className="logfoot">
        {living && (
          <button type="button" className="chip" aria-pressed={following} onClick={toggleFollow}>
            <span className={following ? "live" : "live off"} />
            {following ? t.run.following : t.run.pausedFollow} <kbd className="kbd">F</kbd>
          </button>
        )}
        {(log.state === "waiting" || log.state === "connecting") && lines.length > 0 && living && (
          <span className="c-warn">{t.run.reconnecting}</span>
        )}
        <span className="mut num">
          {t.run.lines(buffer.last && !log.hasEarlier ? buffer.lines.length : (buffer.last ?? 0))}
          {log.rate > 0 && ` · ${t.run.perSecond(log.rate)}`}
        </span>
        {hidden.size > 0 && <span className="mut">{t.run.hidden(buffer.lines.length - lines.length)}</span>}
        {log.missing > 0 && <span className="c-warn">{t.run.missing(log.missing)}</span>}
        <span className="right row g1">
          <button type="button" className="chip" onClick={() => scroller.current?.scrollTo(0, 0)}>
            <ArrowUp size={13} aria-hidden />
            {t.run.top}
          </button>
          <button type="button" className={fresh > 0 && living ? "chip fresh" : "chip"} onClick={toEnd}>
            <ArrowDown size={13} aria-hidden />
            {fresh > 0 && living ? t.run.newLines(fresh) : t.run.end} <kbd className="kbd">G</kbd>
          </button>
        </span>
      </div>
      {whole && (
        <Dialog title={`${t.run.wholeLine} ${whole.seq}`} open wide onClose={() => setWhole(undefined)}>
          <pre className="whole-line" tabIndex={0}>
            {plainText(whole.text)}
          </pre>
        </Dialog>
      )}
    </section>
  );
}

function Nothing({
  run,
  loading,
  living,
  refused,
}: {
  run: Run;
  loading: boolean;
  living: boolean;
  refused: boolean;
}) {
  const { t } = useWords();
  if (refused) return <Empty title={t.error.codes.forbidden ?? ""} hint={t.run.log} />;
  if (living)
    return (
      <Empty
        title={run.started_at || run.status === "running" ? t.run.waitingLog : t.run.noLogYet}
        hint={run.reason}
      />
    );
  return loading ? null : <Empty title={t.run.noLog} hint={run.reason ?? run.message} />;
}

/** The lines that a link names: #L1208, or #L1200-1208. */
function parseLink(hash: string): [number, number] | undefined {
  const [, a, b] = /^#L(\d+)(?:-(\d+))?$/.exec(hash) ?? [];
  return a === undefined ? undefined : [Number(a), Number(b ?? a)];
}

/** Saves the whole log of an attempt as a text file, whatever part of it is held. */
async function download(of: Run, failed: () => void) {
  const parts: string[] = [];
  try {
    for (let at: number | undefined = 1; at !== undefined; ) {
      const next = await logLines(of.run_id, of.attempt, { from: at }, 10_000, of.broadcast_index);
      parts.push(...next.items.map((l) => `${l.text}\n`));
      at = next.next_seq;
    }
  } catch {
    failed();
    return;
  }
  const url = URL.createObjectURL(new Blob(parts, { type: "text/plain" }));
  const a = document.createElement("a");
  a.href = url;
  a.download = `${of.job.replace("/", "-")}-${of.run_id}-${of.attempt}${of.broadcast_index === undefined ? "" : `-${of.broadcast_index}`}.log`;
  a.click();
  URL.revokeObjectURL(url);
}
