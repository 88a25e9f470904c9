import { readEvents, type ServerEvent } from "./sse";

/** What a follower knows of its stream. "ended" is final: the server said that there is no more. */
export type LiveState = "connecting" | "open" | "waiting" | "hidden" | "ended" | "refused";

export interface FollowOptions {
  url: string;
  /** Called for each event. To return "end" closes the stream for good. */
  onEvent(event: ServerEvent): "end" | undefined;
  onState(state: LiveState): void;
  /** No server answered. It is tried again. */
  onLost?(): void;
  /** Where to begin; reconnects go on from the last event. */
  lastEventId?: string;
}

/** Without a byte for this long, the connection is dead: the server says something every 15 s. */
const silence = 45_000;
const firstWait = 500;
const longestWait = 15_000;
/** A page hidden for this long gives its connection back: a browser has six for a server. */
const hiddenFor = 5_000;

/**
 * Follows a stream until it ends or the returned function is called. It reconnects after
 * the last event when the connection breaks, when the server says bye, and when the page
 * is seen again. Nothing is lost or repeated, as far as the server keeps ids.
 */
export function follow(options: FollowOptions): () => void {
  const stop = new AbortController();
  let lastEventId = options.lastEventId;

  async function connect(): Promise<"end" | "again" | "bye"> {
    const attempt = new AbortController();
    const abort = () => attempt.abort();
    stop.signal.addEventListener("abort", abort);
    let watchdog = setTimeout(abort, silence);
    let hiding: ReturnType<typeof setTimeout> | undefined;
    const onVisibility = () => {
      clearTimeout(hiding);
      if (document.hidden) hiding = setTimeout(abort, hiddenFor);
    };
    document.addEventListener("visibilitychange", onVisibility);
    let answered = false;
    try {
      options.onState("connecting");
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (lastEventId) headers["Last-Event-ID"] = lastEventId;
      const response = await fetch(options.url, { headers, signal: attempt.signal, cache: "no-store" });
      answered = true;
      if (response.status >= 400 && response.status < 500) {
        options.onState("refused");
        return "end";
      }
      if (!response.ok || !response.body) return "again";
      // A proxy may let the head of an answer through and keep its body: a stream is open that says something.
      let open = false;
      const heard = () => {
        if (!open) {
          open = true;
          options.onState("open");
        }
        clearTimeout(watchdog);
        watchdog = setTimeout(abort, silence);
      };
      for await (const event of readEvents(response.body, heard)) {
        wait = firstWait;
        if (event.id) lastEventId = event.id;
        if (event.event === "bye") return "bye";
        if (options.onEvent(event) === "end") {
          options.onState("ended");
          return "end";
        }
      }
      return "again";
    } catch {
      if (!answered && !attempt.signal.aborted) options.onLost?.();
      return "again"; // broken, silent, hidden or stopped; the loop tells them apart
    } finally {
      clearTimeout(watchdog);
      clearTimeout(hiding);
      stop.signal.removeEventListener("abort", abort);
      document.removeEventListener("visibilitychange", onVisibility);
      attempt.abort();
    }
  }

  let wait = firstWait;
  async function run() {
    while (!stop.signal.aborted) {
      if (document.hidden) {
        options.onState("hidden");
        await seen(stop.signal);
        continue;
      }
      const outcome = await connect();
      if (outcome === "end" || stop.signal.aborted) return;
      if (document.hidden) continue;
      options.onState("waiting");
      // Full jitter, so that a restarted server does not get everybody at once.
      await pause(outcome === "bye" ? Math.random() * firstWait : Math.random() * wait, stop.signal);
      wait = Math.min(wait * 2, longestWait);
    }
  }
  void run();
  return () => stop.abort();
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      window.removeEventListener("online", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    window.addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}

function seen(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener("visibilitychange", done);
      signal.removeEventListener("abort", done);
      resolve();
    };
    document.addEventListener("visibilitychange", done);
    signal.addEventListener("abort", done);
  });
}
