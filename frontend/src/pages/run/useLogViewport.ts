import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Run } from "@/api/schema.gen";
import { toast } from "@/components/Toasts";
import { usePageWords } from "@/lib/format";
import type { LogRows } from "@/lib/logrows";
import { isFailure, isLiving } from "@/lib/status";
import type { Log } from "./useLog";

/** The height of a row, in px. */
export const row = 20;
/** So many lines are above the first error where a log opens at it. */
const above = 5;

/** The part of the rows that is on the screen, in px. */
export interface View {
  top: number;
  height: number;
}

export interface Viewport {
  following: boolean;
  /** The last line that was there when one left the end; 0 at first. */
  seen: number;
  onScroll(): void;
  /** Shows a line, with so many rows above it, as soon as the log holds it. */
  goTo(seq: number, before: number): void;
  /** The same, and a third of the screen above it. */
  goToMiddle(seq: number): void;
  toEnd(): void;
  toTop(): void;
  toggleFollow(): void;
}

/** What is on the screen: its size, and where it begins. */
export function useView(): [RefObject<HTMLDivElement | null>, View, () => void] {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>({ top: 0, height: 600 });
  const update = useCallback(() => {
    const el = scroller.current;
    if (el) setView({ top: el.scrollTop, height: el.clientHeight });
  }, []);
  useEffect(() => {
    const el = scroller.current;
    if (!el) return;
    update();
    const observer = new ResizeObserver(update);
    observer.observe(el);
    return () => observer.disconnect();
  }, [update]);
  return [scroller, view, update];
}

/**
 * Where in its log a run's panel is: it opens at what matters, follows the end, goes to lines, and stays
 * where it is when rows come before those on the screen.
 */
export function useLogViewport(
  scroller: RefObject<HTMLDivElement | null>,
  update: () => void,
  log: Log,
  laidOut: LogRows,
  run: Run,
  linked: number | undefined,
): Viewport {
  const { t } = usePageWords();
  const living = isLiving(run.status);
  const [following, setFollowing] = useState(living && linked === undefined);
  const [seen, setSeen] = useState(0);
  const [wanted, setWanted] = useState<{ seq: number; before: number }>();
  const { buffer, version, toLine, firstError } = log;
  const { rows } = laidOut;
  const { epoch } = buffer;

  const toRow = useCallback(
    (index: number, before: number) => {
      const el = scroller.current;
      if (el) el.scrollTop = Math.max(0, (index - before) * row);
    },
    [scroller],
  );
  const third = () => Math.floor((scroller.current?.clientHeight ?? 600) / row / 3);

  // Where a log opens: at the linked line; at the first error of a failed run; at the end of any other run
  // that has ended, or where there is no error. One that is still printing is followed.
  const opened = useRef(false);
  useLayoutEffect(() => {
    if (opened.current || rows.length === 0) return;
    opened.current = true;
    if (linked !== undefined) {
      setWanted({ seq: linked, before: third() });
      void toLine(linked).catch(() => undefined);
    } else if (isFailure(run.status)) {
      toRow(rows.length, 0);
      void firstError()
        .then(async (seq) => {
          if (seq === undefined) return;
          setWanted({ seq, before: above });
          await toLine(seq);
        })
        .catch(() => undefined);
    } else if (!living) {
      toRow(rows.length, 0);
    }
  });

  // The row that is the first on the screen, and by how much it is above it.
  const anchor = useRef<{ epoch: number; rows: LogRows; seq: number; shift: number }>(undefined);
  // Somebody wants to be at a line: as soon as it is held.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each drawing may have brought it
  useLayoutEffect(() => {
    if (!wanted) return;
    const { first = 0, last = 0 } = buffer;
    // A line may be on its way: the history is a moment behind the run.
    if (wanted.seq < first || (wanted.seq > last && (log.hasLater || log.state !== "ended"))) return;
    setWanted(undefined);
    anchor.current = undefined; // it is left behind
    toRow(laidOut.rowOf(wanted.seq), wanted.before);
  }, [wanted, version, laidOut, log.hasLater, log.state]);

  // Rows that were put in before must not move those on the screen: the first of these stays where it is.
  useLayoutEffect(() => {
    const el = scroller.current;
    const was = anchor.current;
    if (!el || !was || (was.epoch === epoch && was.rows === laidOut) || following || wanted) return;
    el.scrollTop = laidOut.rowOf(was.seq) * row + was.shift;
  }, [scroller, epoch, laidOut, following, wanted]);
  useLayoutEffect(() => {
    const el = scroller.current;
    const at = el && rows[Math.floor(el.scrollTop / row)];
    if (!at) return;
    const shift = el.scrollTop - laidOut.rowOf(at.seq) * row;
    anchor.current = { epoch, rows: laidOut, seq: at.seq, shift };
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
  }, [scroller, following, version, rows.length, letGo]);

  const onScroll = () => {
    const el = scroller.current;
    if (!el) return;
    update();
    const below = el.scrollHeight - el.scrollTop - el.clientHeight;
    const atEnd = below < row * 2 && !log.hasLater;
    if (following && !atEnd) letGo();
    else if (!following && atEnd && living) setFollowing(true);
    // A log that does not answer says so by itself.
    if (el.scrollTop < 2000 && log.hasEarlier) void log.loadEarlier().catch(() => undefined);
    else if (below < 2000 && log.hasLater) void log.loadLater().catch(() => undefined);
  };
  const away = () => toast({ bad: true, text: t.run.logAway });
  const toEnd = () => {
    if (!log.hasLater) {
      const el = scroller.current;
      if (el) el.scrollTop = el.scrollHeight;
      if (living) setFollowing(true);
      return;
    }
    void log
      .toEnd()
      .then(() => {
        setWanted({ seq: buffer.last ?? 0, before: 0 });
        if (living) setFollowing(true);
      })
      .catch(away);
  };
  const goTo = (seq: number, before: number) => {
    setFollowing(false);
    setWanted({ seq, before });
    void toLine(seq).catch(away);
  };
  return {
    following,
    seen,
    onScroll,
    goTo,
    goToMiddle: (seq) => goTo(seq, third()),
    toEnd,
    toTop: () => goTo(1, 0),
    toggleFollow: () => (following ? letGo() : toEnd()),
  };
}
