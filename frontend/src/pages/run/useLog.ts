import { useEffect, useState, useSyncExternalStore } from "react";
import { firstErrorOf, logLines, tailUrl } from "@/api/runs";
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
  /** There are lines before those held, or after them: then what is printed is counted, and not held. */
  hasEarlier: boolean;
  hasLater: boolean;
  /** The number of the last line that is known of. */
  newest: number;
  /** Lines that the server could not find. */
  missing: number;
  /** Lines that came in the last second. */
  rate: number;
  loadEarlier(): Promise<void>;
  loadLater(): Promise<void>;
  /** Holds the end of the log again. */
  toEnd(): Promise<void>;
  /** Has a line held, and those around it. */
  toLine(seq: number): Promise<void>;
  /** Looks for the first line that is an error; undefined if there is none. */
  firstError(): Promise<number | undefined>;
  /** Asks again at once where the log did not answer. */
  retry(): void;
  /** Has a view take over what changes, before it is drawn. Returns the way to stop. */
  keep(view: View): () => void;
}

/** What is made of a log's lines, such as its rows. Sync takes over what has changed since. */
interface View {
  sync(): void;
}

/**
 * Keeps the lines of one attempt: the last page of what is stored, then what is printed; or
 * another part of it, once somebody has gone there.
 */
class LogStore {
  buffer = new LogBuffer();
  state: LiveState | "loading" = "loading";
  hasEarlier = false;
  hasLater = false;
  newest = 0;
  missing = 0;
  rate = 0;
  private version = 0;
  private stopTail = () => {};
  private stopped = true;
  private readonly listeners = new Set<() => void>();
  private readonly views = new Set<View>();
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
  keep = (view: View) => {
    view.sync();
    this.views.add(view);
    return () => this.views.delete(view);
  };

  /** Reads and follows until it is told to stop. */
  start(): () => void {
    this.stopped = false;
    const open = async () => {
      // Should this fail, the tail brings what is stored by itself.
      if (this.buffer.lines.length === 0) await this.readEnd().catch(() => undefined);
      this.follow();
    };
    void open();
    return () => {
      this.stopped = true;
      this.stopTail();
      clearTimeout(this.timer);
      this.timer = undefined;
    };
  }

  retry(): void {
    if (!this.stopped) this.start();
  }

  private page(where: Parameters<typeof logLines>[2]) {
    return logLines(this.runId, this.attempt, where, page, this.piece);
  }

  private async readEnd(): Promise<void> {
    const { items } = await this.page("end");
    this.buffer.replace(items);
    this.hasEarlier = items.length === page;
    this.hasLater = false;
    this.newest = Math.max(this.newest, this.buffer.last ?? 0);
  }

  /** Follows what comes after the lines held. */
  private follow() {
    this.stopTail();
    if (this.stopped) return;
    const at = this.buffer.last;
    this.stopTail = follow({
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
          this.newest = Math.max(this.newest, lines.at(-1)?.seq ?? 0);
          if (!this.hasLater && this.buffer.append(lines)) this.hasEarlier = true;
          this.changed();
          return undefined;
        }
        if (event !== "end") return undefined;
        this.missing = (JSON.parse(data) as LogEnd).missing;
        return "end";
      },
    });
    this.changed();
  }

  /** Does one reading at a time. */
  private async once(read: () => Promise<void>): Promise<void> {
    if (this.loading) return;
    this.loading = true;
    try {
      await read();
      this.draw();
    } finally {
      this.loading = false;
    }
  }

  loadEarlier(): Promise<void> {
    return this.once(async () => {
      const first = this.buffer.first;
      if (!this.hasEarlier || first === undefined) return;
      const { items } = await this.page({ before: first });
      if (this.buffer.prepend(items)) this.hasLater = true;
      this.hasEarlier = items.length === page && this.buffer.first !== first;
    });
  }

  loadLater(): Promise<void> {
    return this.once(async () => {
      if (!this.hasLater) return;
      const { items } = await this.page({ from: (this.buffer.last ?? 0) + 1 });
      if (this.buffer.append(items)) this.hasEarlier = true;
      if (items.length < page) {
        this.hasLater = false;
        this.follow(); // from here on
      }
    });
  }

  toEnd(): Promise<void> {
    return this.once(async () => {
      if (!this.hasLater) return;
      await this.readEnd();
      this.follow();
    });
  }

  toLine(seq: number): Promise<void> {
    return this.once(async () => {
      const { first, last } = this.buffer;
      if (first !== undefined && last !== undefined && first <= seq && (seq <= last || !this.hasLater))
        return;
      const from = Math.max(1, seq - page / 2);
      const { items } = await this.page({ from });
      if (items.length === 0) return;
      this.buffer.replace(items);
      this.hasEarlier = (this.buffer.first ?? 1) > 1;
      this.hasLater = items.length === page;
      this.newest = Math.max(this.newest, this.buffer.last ?? 0);
      if (!this.hasLater) this.follow();
    });
  }

  async firstError(): Promise<number | undefined> {
    const held = this.hasEarlier ? undefined : this.buffer.lines.find((l) => l.level === "error");
    if (held || !this.hasEarlier) return held?.seq;
    const found = await firstErrorOf(this.runId, this.attempt, this.piece);
    return found?.seq;
  }

  private draw() {
    for (const view of this.views) view.sync();
    this.version++;
    for (const listener of this.listeners) listener();
  }

  /** Draws soon, and not more often than flushEvery. */
  private changed() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      const now = Date.now();
      this.seen = this.seen.filter(([at]) => now - at < 1000);
      this.rate = this.seen.reduce((n, [, lines]) => n + lines, 0);
      this.draw();
      if (this.rate > 0) setTimeout(() => this.changed(), 1000);
    }, flushEvery);
  }
}

/** Keeps a view of the lines up to date for as long as it is drawn. */
export function useKept<V extends View>({ keep }: Log, view: V): V {
  useEffect(() => keep(view), [keep, view]);
  return view;
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
    hasLater: store.hasLater,
    newest: Math.max(store.newest, store.buffer.last ?? 0),
    missing: store.missing,
    rate: store.rate,
    loadEarlier: () => store.loadEarlier(),
    loadLater: () => store.loadLater(),
    toEnd: () => store.toEnd(),
    toLine: (seq) => store.toLine(seq),
    firstError: () => store.firstError(),
    retry: () => store.retry(),
    keep: store.keep,
  };
}
