import { noteAnswer } from "./connection";
import { onSignedIn } from "./expiry";
import { follow, type LiveState } from "./live";
import { isLive, onLive } from "./live-switch";
import { createStore } from "./store";

/** What changes, in the words of the API. */
export type Topic = "jobs" | "runs" | "executors" | "cluster" | "alerts";
const topics: readonly string[] = ["jobs", "runs", "executors", "cluster", "alerts"];

export interface News {
  /** What was requested before this instant (of performance.now()) must be loaded again. */
  reload: number | undefined;
  /** What has changed of each topic: jobs or groups by name; undefined is anything. */
  topics: Map<Topic, Set<string> | undefined>;
}

/** How long changes are collected before a page hears of them, and how long apart it does at least. */
const collect = 400;
const apart = 2000;
/** The history has a run a moment after its event: it is told of it once more. */
const settle = 1800;

const state = createStore<LiveState>("connecting");

/** Whether changes are heard of as they happen, so that nothing need be asked for again and again. */
export function hearsNews(): boolean {
  return state.get() === "open";
}

export const useNewsState = state.use;

const begun = createStore(false);

/** Whether a page need not wait for the stream: it is open, or will not open. */
export const useNewsBegun = begun.use;

/**
 * Follows the stream of events while this tab is live, and tells of them in batches.
 * Returns the way to stop.
 */
export function followNews(url: string, tell: (news: News) => void): () => void {
  let stop: (() => void) | undefined;
  let batch: News | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let told = Number.NEGATIVE_INFINITY;
  const flush = () => {
    timer = undefined;
    const news = batch;
    batch = undefined;
    if (!news) return;
    told = Date.now();
    tell(news);
    if (!news.topics.has("runs")) return;
    clearTimeout(again);
    again = setTimeout(() => {
      if (!batch) tell({ reload: undefined, topics: new Map([["runs", news.topics.get("runs")]]) });
    }, settle);
  };
  const note = (change: (news: News) => void) => {
    batch ??= { reload: undefined, topics: new Map() };
    change(batch);
    timer ??= setTimeout(flush, Math.max(collect, told + apart - Date.now()));
  };
  const start = () => {
    stop = follow({
      url,
      onState: (next) => {
        state.set(next);
        if (next === "open") noteAnswer(true);
        if (next !== "connecting" && next !== "open") begun.set(true);
        // Whatever is asked for now is told that nobody is signed in, and says so.
        if (next === "refused") tell({ reload: performance.now(), topics: new Map() });
      },
      onLost: () => noteAnswer(false),
      onEvent: ({ event, data }) => {
        if (event === "reload") {
          note(all);
          begun.set(true);
        }
        if (isTopic(event)) note((n) => add(n, event, data));
        return undefined;
      },
    });
  };
  const onSwitch = () => {
    stop?.();
    stop = undefined;
    clearTimeout(timer);
    clearTimeout(again);
    timer = undefined;
    batch = undefined;
    if (!isLive()) return state.set("hidden");
    start();
    note(all); // it was frozen for who knows how long
  };
  if (isLive()) start();
  else begun.set(true);
  const off = onLive(onSwitch);
  const offSignIn = onSignedIn(() => state.get() === "refused" && onSwitch());
  return () => {
    off();
    offSignIn();
    stop?.();
    clearTimeout(timer);
    clearTimeout(again);
  };
}

/** Marks what was requested until now as out of date. */
function all(news: News): void {
  news.reload = performance.now();
}

function isTopic(event: string): event is Topic {
  return topics.includes(event);
}

/** Adds what an event tells to a batch. */
function add(news: News, topic: Topic, data: string): void {
  const { names, more } = JSON.parse(data) as { names: string[]; more: boolean };
  const known = news.topics.get(topic);
  if (more || (news.topics.has(topic) && known === undefined)) news.topics.set(topic, undefined);
  else news.topics.set(topic, new Set([...(known ?? []), ...names]));
}
