import { useEffect, useState, useSyncExternalStore } from "react";
import { logLines, tailUrl } from "@/api/runs";
import type { LogEnd, LogLine } from "@/api/schema.gen";
import { follow, type LiveState } from "@/lib/live";
import { useLive } from "@/lib/live-switch";
import { LogBuffer } from "@/lib/logbuffer";

/** How many lines a page has. A log is opened at its last page. */
const page = 10_000;
/** How often what has come is drawn. */
const flushEvery = 100;

export interface Log {
  buffer: LogBuffer;
  /** Grows with each drawing of new lines. */
  version: number;
  state: LiveState | "loading";
  /** There are lines before those held. */
  hasEarlier: boolean;
  /** Lines that the server could not find. */
  missing: number;
  /** Lines that came in the last second. */
  rate: number;
  loadEarlier(): Promise<void>;
}

/** Keeps the lines of one attempt: the last page of what is stored, then what is printed. */
class LogStore {
  buffer = new LogBuffer();
  state: LiveState | "loading" = "loading";
  hasEarlier = false;
  missing = 0;
  rate = 0;
  private version = 0;
  private readonly listeners = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private seen: [at: number, lines: number][] = [];
  private loading = false;
  readonly runId: string;
  readonly attempt: number;
  readonly job: string;
  readonly piece: number | undefined;

  constructor(runId: string, attempt: number, job: string, piece: number | undefined) {
    this.runId = runId;
    this.attempt = attempt;
    this.job = job;
    this.piece = piece;
  }

  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  snapshot = () => this.version;

  /** Reads and follows until it is told to stop. */
  start(): () => void {
    let stopped = false;
    let stop = () => {};
    const open = async () => {
      if (this.buffer.lines.length === 0) {
        // Should this fail, the tail brings what is stored by itself.
        const last = await logLines(this.runId, this.attempt, "end", page, this.piece).catch(() => undefined);
        if (last) {
          this.buffer.append(last.items);
          this.hasEarlier = last.items.length === page;
        }
      }
      if (stopped) return;
      const at = this.buffer.last;
      stop = follow({
        url: tailUrl(this.runId, this.attempt, this.job, this.piece),
        lastEventId: at === undefined ? undefined : `${this.attempt}:${at}`,
        onState: (state) => {
          this.state = state;
          this.changed();
        },
        onEvent: ({ event, data }) => {
          if (event === "lines") {
            const lines = JSON.parse(data) as LogLine[];
            this.seen.push([Date.now(), lines.length]);
            this.buffer.append(lines);
            this.changed();
            return undefined;
          }
          if (event !== "end") return undefined;
          this.missing = (JSON.parse(data) as LogEnd).missing;
          return "end";
        },
      });
      this.changed();
    };
    void open();
    return () => {
      stopped = true;
      stop();
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  }

  async loadEarlier(): Promise<void> {
    const first = this.buffer.first;
    if (this.loading || !this.hasEarlier || first === undefined) return;
    this.loading = true;
    try {
      const earlier = await logLines(this.runId, this.attempt, { before: first }, page, this.piece);
      this.buffer.prepend(earlier.items);
      this.hasEarlier = earlier.items.length === page && this.buffer.first !== first;
      this.changed();
    } finally {
      this.loading = false;
    }
  }

  /** Draws soon, and not more often than flushEvery. */
  private changed() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const now = Date.now();
      this.seen = this.seen.filter(([at]) => now - at < 1000);
      this.rate = this.seen.reduce((n, [, lines]) => n + lines, 0);
      this.version++;
      for (const listener of this.listeners) listener();
      if (this.rate > 0) setTimeout(() => this.changed(), 1000);
    }, flushEvery);
  }
}

/** The log of an attempt, or of one piece of it. The stream is closed while live updates are off. */
export function useLog(runId: string, attempt: number, job: string, piece?: number): Log {
  const live = useLive();
  const [store, setStore] = useState(() => new LogStore(runId, attempt, job, piece));
  if (store.runId !== runId || store.attempt !== attempt || store.piece !== piece)
    setStore(new LogStore(runId, attempt, job, piece));
  useEffect(() => {
    if (!live && store.buffer.lines.length > 0) return undefined;
    return store.start();
  }, [store, live]);
  const version = useSyncExternalStore(store.subscribe, store.snapshot);
  return {
    buffer: store.buffer,
    version,
    state: store.state,
    hasEarlier: store.hasEarlier,
    missing: store.missing,
    rate: store.rate,
    loadEarlier: () => store.loadEarlier(),
  };
}
