import { Download, Maximize2, Minimize2, Timer, WrapText } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Level, LogLine, Run } from "@/api/schema.gen";
import { IconButton } from "@/components/Button";
import { copyText } from "@/components/Copy";
import { Dialog } from "@/components/Dialog";
import { toast } from "@/components/Toasts";
import { plainText } from "@/lib/ansi";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { visibleRows } from "@/lib/logbuffer";
import { LogFinder, patternOf } from "@/lib/logfind";
import { isExtra, LogRows } from "@/lib/logrows";
import { LogStrip } from "@/lib/logstrip";
import { isLiving } from "@/lib/status";
import { useKeys } from "@/shell/keys";
import { downloadLog } from "./download";
import { Find } from "./Find";
import { LogFoot } from "./LogFoot";
import { LogLines } from "./LogLines";
import { NoLines } from "./NoLines";
import { Probe, useRuler } from "./Probe";
import { Strip } from "./Strip";
import { useFound } from "./useFound";
import { useKept, useLog } from "./useLog";
import { row, useLogViewport, useView } from "./useLogViewport";

const allLevels: Level[] = ["debug", "info", "warn", "error"];
const times = ["clock", "delta", "none"] as const;
const nothing: ReadonlySet<number> = new Set();

interface LogPanelProps {
  run: Run;
  /** What stands first in the bar: which log it is. */
  children?: ReactNode;
}

/** The log of one attempt, or of one piece of it: live while it runs, windowed however long it is. */
export function LogPanel({ run, children }: LogPanelProps) {
  const { t, f } = usePageWords();
  const log = useLog(run.run_id, run.attempt, run.job, run.broadcast_index);
  const living = isLiving(run.status);
  const field = useRef<HTMLInputElement>(null);
  const [scroller, view, update] = useView();
  const [probe, measured] = useRuler();
  const [hidden, setHidden] = useState<ReadonlySet<Level>>(new Set());
  const [open, setOpen] = useState<ReadonlySet<number>>(nothing);
  const [needle, setNeedle] = useState("");
  const [regex, setRegex] = useState(false);
  const [current, setCurrent] = useState<number>();
  const [time, setTime] = useState<(typeof times)[number]>("clock");
  const [wrap, setWrap] = useState(false);
  const [full, setFull] = useState(false);
  const [whole, setWhole] = useState<LogLine>();
  const [link, setLink] = useState(() => parseLink(location.hash));

  const { buffer, version } = log;
  const ruler = wrap ? measured : undefined;
  const pattern = useMemo(() => patternOf(needle.trim(), regex), [needle, regex]);
  const laidOut = useKept(
    log,
    useMemo(() => new LogRows(buffer, { hidden, ruler, open }), [buffer, hidden, ruler, open]),
  );
  const shown = hidden.size > 0 ? allLevels.filter((l) => !hidden.has(l)) : undefined;
  const held = useKept(
    log,
    useMemo(() => new LogFinder(buffer, pattern ?? undefined, hidden), [buffer, pattern, hidden]),
  );
  const found = useFound(log, run, { text: needle.trim(), regex, level: shown }, held.matches);
  const { matches } = found;
  const strip = useKept(
    log,
    useMemo(() => new LogStrip(buffer), [buffer]),
  );
  const { rows } = laidOut;
  const viewport = useLogViewport(scroller, update, log, laidOut, run, link?.[0]);
  const { goToMiddle, onScroll, toEnd, toTop, toggleFollow } = viewport;
  const at = current === undefined ? -1 : matches.indexOf(current);
  // Whoever presses Enter while lines are looked for goes to the first when it is found.
  const [later, setLater] = useState(0);
  const find = (step: number) => {
    setLater(found.isPending ? step : 0);
    const next = matches[(Math.max(at, step > 0 ? -1 : 0) + step + matches.length) % matches.length];
    if (next === undefined) return;
    const place = rows[laidOut.rowOf(next)];
    if (place && isExtra(place) && place.kind === "fold") setOpen((was) => new Set(was).add(place.seq));
    setCurrent(next);
    goToMiddle(next);
  };
  useEffect(() => {
    if (later !== 0 && !found.isPending) find(later);
  });
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
  const toggleLevel = (level: Level) => {
    const next = new Set(hidden);
    if (!next.delete(level)) next.add(level);
    setHidden(next);
    const around = viewport.following ? undefined : rows[Math.floor(view.top / row)]?.seq;
    void log
      .show(next.size > 0 ? allLevels.filter((l) => !next.has(l)) : undefined, around)
      .catch(() => toast({ bad: true, text: t.run.logAway }));
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
    ...Object.fromEntries(allLevels.map((level, i) => ["!@#$".charAt(i), () => toggleLevel(level)] as const)),
  });

  const [from, to] = visibleRows(view.top, view.height, row, rows.length);
  const began = run.started_at ? Date.parse(run.started_at) : 0;
  const timeOf = (l: LogLine) => {
    if (time === "none") return "";
    return time === "clock" ? f.millis(l.at) : `+${formatDuration(Math.max(0, Date.parse(l.at) - began))}`;
  };
  const timeAt = (i: number) => {
    const at = rows[Math.min(rows.length - 1, Math.max(0, Math.floor(i)))];
    return at ? Date.parse((isExtra(at) ? at.line : at).at) : 0;
  };
  const hiddenLines = [...hidden].reduce((n, level) => n + (log.counts[level] ?? 0), 0);
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
          found={found.total}
          busy={found.isPending}
          error={found.error}
          onNeedle={(next) => {
            setNeedle(next);
            setCurrent(undefined);
          }}
          onRegex={setRegex}
          onStep={find}
        />
        {allLevels.map(
          (level, i) =>
            ((log.counts[level] ?? 0) > 0 || hidden.has(level)) && (
              <button
                type="button"
                key={level}
                className={hidden.has(level) ? "chip b level off" : "chip b level"}
                aria-pressed={!hidden.has(level)}
                title={`Shift ${i + 1}`}
                onClick={() => toggleLevel(level)}
              >
                <i className={`lv-${level}`} />
                {t.run.levels[level]} <span className="mut num">{f.number(log.counts[level] ?? 0)}</span>
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
          onJump={(ms) => goToMiddle(lineAt(buffer.lines, ms))}
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
        <Probe ref={probe} />
        {rows.length === 0 ? (
          <NoLines run={run} log={log} living={living} />
        ) : (
          <LogLines
            rows={rows}
            from={from}
            to={to}
            timeOf={timeOf}
            pattern={pattern ?? undefined}
            current={current}
            link={link}
            open={open}
            onLink={onLink}
            onWhole={setWhole}
            onOpen={onOpen}
          />
        )}
      </div>
      <LogFoot log={log} viewport={viewport} living={living} hiddenLines={hiddenLines} />
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
