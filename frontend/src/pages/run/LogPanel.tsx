import { Link } from "@tanstack/react-router";
import { ArrowDown, ArrowUp, Download, Maximize2, Minimize2, Timer, WrapText } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { LogLine, Run } from "@/api/schema.gen";
import { IconButton } from "@/components/Button";
import { copyText } from "@/components/Copy";
import { Dialog } from "@/components/Dialog";
import { toast } from "@/components/Toasts";
import { plainText } from "@/lib/ansi";
import { formatBytes } from "@/lib/bytes";
import { formatDuration } from "@/lib/duration";
import { useWords } from "@/lib/format";
import { linesOf } from "@/lib/ids";
import { visibleRows } from "@/lib/logbuffer";
import { LogFinder, patternOf } from "@/lib/logfind";
import { isExtra, LogRows } from "@/lib/logrows";
import { LogStrip } from "@/lib/logstrip";
import { isFailure, isLiving } from "@/lib/status";
import { useKeys } from "@/shell/keys";
import { downloadLog } from "./download";
import { Find } from "./Find";
import { ExtraRow, LogRow } from "./LogRow";
import { NoLines } from "./NoLines";
import { Strip } from "./Strip";
import { type Log, useLog } from "./useLog";

const row = 20;
/** So many lines are above the first error where a log opens at it. */
const above = 5;
/** What is left and right of a line's text, and how wide a letter is, in px. */
const aside = 214;
const letter = 7.2;
const allLevels = ["debug", "info", "warn", "error"];
const times = ["clock", "delta", "none"] as const;
const nothing: ReadonlySet<number> = new Set();

interface LogPanelProps {
  run: Run;
  /** What stands first in the bar: which log it is. */
  children?: ReactNode;
}

/** The log of one attempt, or of one piece of it: live while it runs, windowed however long it is. */
export function LogPanel({ run, children }: LogPanelProps) {
  const { t, f } = useWords();
  const log = useLog(run.run_id, run.attempt, run.job, run.broadcast_index);
  const living = isLiving(run.status);
  const scroller = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [view, setView] = useState({ top: 0, height: 600, width: 1000 });
  const [following, setFollowing] = useState(living && !location.hash.startsWith("#L"));
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<ReadonlySet<number>>(nothing);
  const [needle, setNeedle] = useState("");
  const [regex, setRegex] = useState(false);
  const [current, setCurrent] = useState<number>();
  const [time, setTime] = useState<(typeof times)[number]>("clock");
  const [wrap, setWrap] = useState(false);
  const [full, setFull] = useState(false);
  const [whole, setWhole] = useState<LogLine>();
  const [link, setLink] = useState(() => parseLink(location.hash));
  const [seen, setSeen] = useState(0);

  const { buffer, version } = log;
  const columns = wrap ? Math.max(20, Math.floor((view.width - aside) / letter)) : 0;
  const laidOut = useMemo(
    () => new LogRows(buffer, { hidden, columns, open }),
    [buffer, hidden, columns, open],
  );
  const rows = laidOut.sync();
  const pattern = useMemo(() => patternOf(needle.trim(), regex), [needle, regex]);
  const finder = useMemo(
    () => new LogFinder(buffer, pattern ?? undefined, hidden),
    [buffer, pattern, hidden],
  );
  const matches = finder.sync();
  const strip = useMemo(() => new LogStrip(buffer), [buffer]);
  strip.sync();

  const toRow = useCallback((index: number, before: number) => {
    const el = scroller.current;
    if (el) el.scrollTop = Math.max(0, (index - before) * row);
  }, []);
  const third = () => Math.floor((scroller.current?.clientHeight ?? 600) / row / 3);

  // Where a log opens: at the linked line; at the first error of a failed run, or at the end where it has
  // none; at the beginning of any other run that has ended. One that is still printing is followed.
  const opened = useRef(false);
  const wanted = useRef<{ seq: number; before: number }>(undefined);
  const { toLine, firstError } = log;
  useLayoutEffect(() => {
    if (opened.current || rows.length === 0) return;
    opened.current = true;
    if (link) {
      wanted.current = { seq: link[0], before: third() };
      void toLine(link[0]).catch(() => undefined);
    } else if (isFailure(run.status)) {
      toRow(rows.length, 0);
      void firstError()
        .then(async (seq) => {
          if (seq === undefined) return;
          wanted.current = { seq, before: above };
          await toLine(seq);
          setView((was) => ({ ...was }));
        })
        .catch(() => undefined);
    } else if (!living) {
      toRow(0, 0);
    }
  });
  // The row that is the first on the screen, and by how much it is above it.
  const anchor = useRef<{ epoch: number; rows: LogRows; seq: number; shift: number }>(undefined);
  // Somebody wants to be at a line: as soon as it is held.
  useLayoutEffect(() => {
    const { seq, before } = wanted.current ?? {};
    if (seq === undefined || before === undefined) return;
    const { first = 0, last = 0 } = buffer;
    // A line may be on its way: the history is a moment behind the run.
    if (seq < first || (seq > last && (log.hasLater || log.state !== "ended"))) return;
    wanted.current = undefined;
    anchor.current = undefined; // it is left behind
    toRow(laidOut.rowOf(seq), before);
  });

  // Rows that were put in before must not move those on the screen: the first of these stays where it is.
  const epoch = buffer.epoch;
  useLayoutEffect(() => {
    const el = scroller.current;
    const was = anchor.current;
    if (!el || !was || (was.epoch === epoch && was.rows === laidOut) || following || wanted.current) return;
    el.scrollTop = laidOut.rowOf(was.seq) * row + was.shift;
  }, [epoch, laidOut, following]);
  useLayoutEffect(() => {
    const el = scroller.current;
    const at = el && rows[Math.floor(el.scrollTop / row)];
    if (at)
      anchor.current = {
        epoch,
        rows: laidOut,
        seq: at.seq,
        shift: el.scrollTop - laidOut.rowOf(at.seq) * row,
      };
  });

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
  }, [following, version, rows.length, letGo]);

  useEffect(() => {
    const el = scroller.current;
    if (!el) return;
    const update = () => setView({ top: el.scrollTop, height: el.clientHeight, width: el.clientWidth });
    update();
    const observer = new ResizeObserver(update);
    observer.observe(el);
    return () => observer.disconnect();
  }, []);

  const onScroll = () => {
    const el = scroller.current;
    if (!el) return;
    setView({ top: el.scrollTop, height: el.clientHeight, width: el.clientWidth });
    const below = el.scrollHeight - el.scrollTop - el.clientHeight;
    const atEnd = below < row * 2 && !log.hasLater;
    if (following && !atEnd) letGo();
    else if (!following && atEnd && living) setFollowing(true);
    // A log that does not answer says so by itself.
    if (el.scrollTop < 2000 && log.hasEarlier) void log.loadEarlier().catch(() => undefined);
    else if (below < 2000 && log.hasLater) void log.loadLater().catch(() => undefined);
  };
  const toEnd = () => {
    const go = () => {
      const el = scroller.current;
      if (el) el.scrollTop = el.scrollHeight;
      if (living) setFollowing(true);
    };
    if (!log.hasLater) go();
    else
      void log
        .toEnd()
        .then(() => {
          wanted.current = { seq: buffer.last ?? 0, before: 0 };
          if (living) setFollowing(true);
        })
        .catch(() => toast({ bad: true, text: t.run.logAway }));
  };
  const goTo = (seq: number, before: number) => {
    setFollowing(false);
    wanted.current = { seq, before };
    setView((was) => ({ ...was }));
    void log.toLine(seq).catch(() => toast({ bad: true, text: t.run.logAway }));
  };
  const toTop = () => goTo(1, 0);
  const toggleFollow = () => {
    if (following) letGo();
    else toEnd();
  };
  const at = current === undefined ? -1 : matches.indexOf(current);
  const find = (step: number) => {
    const next = matches[(Math.max(at, step > 0 ? -1 : 0) + step + matches.length) % matches.length];
    if (next === undefined) return;
    const place = rows[laidOut.rowOf(next)];
    if (place && isExtra(place) && place.kind === "fold") setOpen((was) => new Set(was).add(place.seq));
    setCurrent(next);
    goTo(next, third());
  };
  const onOpen = useCallback((seq: number) => {
    setOpen((was) => {
      const next = new Set(was);
      if (!next.delete(seq)) next.add(seq);
      return next;
    });
  }, []);
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
  const toggleLevel = (level: string) => {
    const next = new Set(hidden);
    if (!next.delete(level)) next.add(level);
    setHidden(next);
  };
  const nextTime = () => setTime((was) => times[(times.indexOf(was) + 1) % times.length] ?? "clock");
  const copyLine = () => {
    const seq = link?.[0] ?? current ?? rows[Math.ceil(view.top / row)]?.seq;
    if (seq === undefined) return;
    onLink(seq, false);
    toast({ text: t.run.linkCopied(seq) });
  };

  useKeys({
    f: toggleFollow,
    "/": () => field.current?.focus(),
    "mod+f": () => field.current?.focus(),
    n: () => find(1),
    N: () => find(-1),
    "g g": toTop,
    G: toEnd,
    m: nextTime,
    w: () => setWrap((was) => !was),
    c: copyLine,
    // Shift and a digit, as keyboards have them.
    ...Object.fromEntries(
      ["!", "@", "#", "$"].map((key, i) => [key, () => toggleLevel(allLevels[i] ?? "")] as const),
    ),
  });

  const [from, to] = visibleRows(view.top, view.height, row, rows.length);
  const began = run.started_at ? Date.parse(run.started_at) : 0;
  const timeOf = (l: LogLine) => {
    if (time === "none") return "";
    return time === "clock" ? f.millis(l.at) : `+${formatDuration(Math.max(0, Date.parse(l.at) - began))}`;
  };
  const fresh = following || !living ? 0 : freshSince(log, seen);
  const timeAt = (i: number) => {
    const at = rows[Math.min(rows.length - 1, Math.max(0, Math.floor(i)))];
    return at ? Date.parse((isExtra(at) ? at.line : at).at) : 0;
  };
  const hiddenLines = [...hidden].reduce((n, level) => n + (buffer.counts[level] ?? 0), 0);
  return (
    <section className={full ? "logpanel full" : "logpanel"} aria-label={t.run.log}>
      <div className="logbar">
        {children}
        <Find
          ref={field}
          needle={needle}
          regex={regex}
          wrong={pattern === null}
          at={at}
          found={matches.length}
          onNeedle={(next) => {
            setNeedle(next);
            setCurrent(undefined);
          }}
          onRegex={setRegex}
          onStep={find}
        />
        {(log.hasEarlier || log.hasLater) && needle !== "" && (
          <Link to="/logs" search={{ q: needle, ...linesOf(run) }} className="link nowrap">
            {t.run.findAll}
          </Link>
        )}
        {allLevels.map(
          (level, i) =>
            (buffer.counts[level] ?? 0) > 0 && (
              <button
                type="button"
                key={level}
                className={hidden.has(level) ? "chip b level off" : "chip b level"}
                aria-pressed={!hidden.has(level)}
                title={`Shift ${i + 1}`}
                onClick={() => toggleLevel(level)}
              >
                <i className={`lv-${level}`} />
                {t.run.levels[level]} <span className="mut num">{f.number(buffer.counts[level] ?? 0)}</span>
              </button>
            ),
        )}
        <span className="right row g1">
          <IconButton
            icon={WrapText}
            label={t.run.wrap}
            keys="W"
            aria-pressed={wrap}
            onClick={() => setWrap(!wrap)}
          />
          <IconButton
            icon={Timer}
            label={`${t.run.timeFormat}: ${{ clock: t.run.clock, delta: t.run.delta, none: t.run.noTime }[time]}`}
            keys="M"
            onClick={nextTime}
          />
          <IconButton
            icon={Download}
            label={t.act.download}
            onClick={() => void downloadLog(run).catch(() => toast({ bad: true, text: t.run.logAway }))}
          />
          <IconButton
            icon={full ? Minimize2 : Maximize2}
            label={full ? t.run.exitFullScreen : t.run.fullScreen}
            onClick={() => setFull(!full)}
          />
        </span>
      </div>
      {buffer.lines.length > 40 && (
        <Strip
          strip={strip}
          version={version}
          from={timeAt(view.top / row)}
          to={timeAt((view.top + view.height) / row)}
          onJump={(ms) => goTo(lineAt(buffer.lines, ms), third())}
        />
      )}
      <div
        className={`log time-${time}${wrap ? " wrapped" : ""}`}
        ref={scroller}
        onScroll={onScroll}
        role="log"
        aria-live="off"
        tabIndex={0}
        aria-label={t.run.log}
      >
        {rows.length === 0 ? (
          <NoLines run={run} log={log} living={living} />
        ) : (
          <div style={{ height: rows.length * row }} className="lines">
            <div style={{ transform: `translateY(${from * row}px)` }}>
              {rows.slice(from, to).map((r, i) => {
                if (isExtra(r) && r.kind !== "part")
                  return (
                    <ExtraRow
                      // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a document do not move
                      key={`${r.seq}.${r.kind}.${i}`}
                      level={r.line.level}
                      {...(r.kind === "fold" && { onOpen: () => onOpen(r.seq) })}
                    >
                      {r.kind === "fold" ? t.run.folded(r.folded) : r.text}
                    </ExtraRow>
                  );
                const [line, part] = isExtra(r) ? [r.line, r] : [r, undefined];
                return (
                  <LogRow
                    key={`${line.seq}.${part?.from ?? 0}`}
                    line={line}
                    time={timeOf(line)}
                    find={pattern ?? undefined}
                    current={line.seq === current}
                    linked={link !== undefined && line.seq >= link[0] && line.seq <= link[1]}
                    {...(part && { from: part.from, to: part.to })}
                    open={open.has(line.seq)}
                    onLink={onLink}
                    onWhole={setWhole}
                    onOpen={onOpen}
                  />
                );
              })}
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
        {(log.state === "waiting" || log.state === "connecting") && rows.length > 0 && living && (
          <span className="c-warn">{t.run.reconnecting}</span>
        )}
        <span className="mut num">
          {t.run.lines(log.hasEarlier || log.hasLater ? log.newest : buffer.lines.length)}
          {log.rate > 0 && ` · ${t.run.perSecond(log.rate)}`}
          {buffer.bytes > 0 && !log.hasEarlier && !log.hasLater && ` · ${formatBytes(buffer.bytes)}`}
        </span>
        {hiddenLines > 0 && <span className="mut">{t.run.hidden(hiddenLines)}</span>}
        {log.missing > 0 && <span className="c-warn">{t.run.missing(log.missing)}</span>}
        <span className="right row g1">
          <button type="button" className="chip" onClick={toTop}>
            <ArrowUp size={13} aria-hidden />
            {t.run.top}
          </button>
          <button type="button" className={fresh > 0 ? "chip fresh" : "chip"} onClick={toEnd}>
            <ArrowDown size={13} aria-hidden />
            {fresh > 0 ? t.run.newLines(fresh) : t.run.end} <kbd className="kbd">G</kbd>
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

/** How many lines have come since one left the end. */
function freshSince(log: Log, seen: number): number {
  if (seen === 0) return 0;
  return log.hasLater
    ? Math.max(0, log.newest - seen)
    : log.buffer.lines.length - log.buffer.indexOf(seen + 1);
}

/** The first line that was printed at an instant or after it. */
function lineAt(lines: LogLine[], ms: number): number {
  let lo = 0;
  let hi = lines.length - 1;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (Date.parse(lines[mid]?.at ?? "") < ms) lo = mid + 1;
    else hi = mid;
  }
  return lines[lo]?.seq ?? 1;
}

/** The lines that a link names: #L1208, or #L1200-1208. */
function parseLink(hash: string): [number, number] | undefined {
  const [, a, b] = /^#L(\d+)(?:-(\d+))?$/.exec(hash) ?? [];
  return a === undefined ? undefined : [Number(a), Number(b ?? a)];
}
