import { hearsNews } from "./events";
import { isLive } from "./live-switch";

/** How often is asked while changes are told: in case that one was not. */
const seldom = 30_000;

/**
 * A refetchInterval for queries while the tab is live. What the events tell of is asked
 * for when they do, and else every so often, as where a proxy keeps the stream back.
 */
export function every(ms: number): () => number | false {
  return () => (isLive() ? (hearsNews() ? Math.max(ms, seldom) : ms) : false);
}

/** The same for what no event tells of. */
export function always(ms: number): () => number | false {
  return () => (isLive() ? ms : false);
}
