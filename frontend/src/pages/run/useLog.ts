import { useEffect, useState, useSyncExternalStore } from "react";
import { findLines, firstErrorOf, logLines, tailUrl } from "@/api/runs";
import type { Level, LogEnd, LogLine } from "@/api/schema.gen";
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
  /** The log has more lines than are held at once, so the server filters and finds. */
  isLong: boolean;
  /** How many lines of each level the whole log has. */
  counts: Readonly<Record<string, number>>;
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
  /** Holds only lines of these levels, or of all: those around a line, or the last ones. A log that is not long holds all. */
  show(levels: Level[] | undefined, around: number | undefined): Promise<void>;
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
  isLong = false;
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
  private loading: Promise<void> | undefined;
  /** Of which levels lines are held; undefined: of all. */
  private levels: Level[] | undefined;
  /** After which line of the log is followed. */
  private place: number | undefined;
  /** How many lines of each level a long log has, up to a line. */
  private totals: { levels: Record<string, number>; last: number } | undefined;
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

  get counts(): Readonly<Record<string, number>> {
    return this.isLong && this.totals ? this.totals.levels : this.buffer.counts;
  }

  private page(where: Parameters<typeof logLines>[2]) {
    return logLines(this.runId, this.attempt, where, page, this.piece, this.levels);
  }

  /** Reads what may be the end of the log: then it is followed from there, whichever levels are held. */
  private async read(where: Parameters<typeof logLines>[2]): Promise<LogLine[]> {
    const end = this.levels && (await logLines(this.runId, this.attempt, "end", 1, this.piece)).items[0]?.seq;
    const { items } = await this.page(where);
    this.place = Math.max(end ?? 0, items.at(-1)?.seq ?? 0) || undefined;
    return items;
  }

  /** Says whether there is more than what is held. */
  private bounds(hasEarlier: boolean, hasLater: boolean): void {
    this.hasEarlier = hasEarlier;
    this.hasLater = hasLater;
    this.newest = Math.max(this.newest, this.buffer.last ?? 0);
    if (this.isLong || !(hasEarlier || hasLater)) return;
    this.isLong = true;
    void this.countAll().catch(() => undefined); // what is held is counted
  }

  private async countAll(): Promise<void> {
    const found = await findLines(this.runId, this.attempt, this.piece);
    this.totals = { levels: { ...found.levels }, last: found.last_seq };
    if (!this.levels && !this.hasLater)
      this.countFurther(this.buffer.lines.slice(this.buffer.indexOf(found.last_seq + 1)));
    this.changed();
  }

  private countFurther(lines: LogLine[]): void {
    const { totals } = this;
    if (!totals) return;
    for (const { seq, level } of lines) {
      if (seq <= totals.last) continue;
      totals.levels[level] = (totals.levels[level] ?? 0) + 1;
      totals.last = seq;
    }
  }

  private async readEnd(): Promise<void> {
    const items = await this.read("end");
    this.buffer.replace(items);
    this.bounds(items.length === page, false);
  }

  /** Follows what comes after the lines held. */
  private follow() {
    this.stopTail();
    if (this.stopped) return;
    const at = this.place;
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
          this.place = this.newest;
          this.countFurther(lines);
          const { levels } = this;
          const held = levels ? lines.filter((l) => levels.some((level) => level === l.level)) : lines;
          if (!this.hasLater && this.buffer.append(held)) this.bounds(true, false);
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
    this.loading = read();
    try {
      await this.loading;
      this.draw();
    } finally {
      this.loading = undefined;
    }
  }

  loadEarlier(): Promise<void> {
    return this.once(async () => {
      const first = this.buffer.first;
      if (!this.hasEarlier || first === undefined) return;
      const { items } = await this.page({ before: first });
      const hasLater = this.buffer.prepend(items) || this.hasLater;
      this.bounds(items.length === page && this.buffer.first !== first, hasLater);
    });
  }

  loadLater(): Promise<void> {
    return this.once(async () => {
      if (!this.hasLater) return;
      const items = await this.read({ from: (this.buffer.last ?? 0) + 1 });
      const hasEarlier = this.buffer.append(items) || this.hasEarlier;
      this.bounds(hasEarlier, items.length === page);
      if (!this.hasLater) this.follow(); // from here on
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
      const items = await this.read({ from: Math.max(1, seq - page / 2) });
      if (items.length === 0) return;
      this.buffer.replace(items);
      this.bounds((this.buffer.first ?? 1) > 1, items.length === page);
      if (!this.hasLater) this.follow();
    });
  }

  async show(levels: Level[] | undefined, around: number | undefined): Promise<void> {
    if (!this.isLong) return;
    while (this.loading) await this.loading.catch(() => undefined);
    this.levels = levels;
    await this.once(async () => {
      if (around === undefined) {
        await this.readEnd();
      } else {
        const before = (await this.page({ before: around })).items;
        const after = await this.read({ from: around });
        this.buffer.replace([...before, ...after]);
        this.bounds(before.length === page, after.length === page);
      }
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
    isLong: store.isLong,
    counts: store.counts,
    newest: Math.max(store.newest, store.buffer.last ?? 0),
    missing: store.missing,
    rate: store.rate,
    loadEarlier: () => store.loadEarlier(),
    loadLater: () => store.loadLater(),
    toEnd: () => store.toEnd(),
    toLine: (seq) => store.toLine(seq),
    firstError: () => store.firstError(),
    show: (levels, around) => store.show(levels, around),
    retry: () => store.retry(),
    keep: store.keep,
  };
}
