import { useEffect, useState } from "react";
import { type LogFilter, watchUrl } from "@/api/logs";
import type { LogHit, LogRate } from "@/api/schema.gen";
import { follow, type LiveState } from "@/lib/live";
import { useLive } from "@/lib/live-switch";

/** So many lines are kept on the page. */
const kept = 500;
/** How often what has come is drawn. */
const flushEvery = 100;

export interface Watch {
  /** The newest first. */
  lines: LogHit[];
  /** What there was to hear within the last second; undefined while there is nothing. */
  rate: LogRate | undefined;
  state: LiveState;
}

const nothing: Watch = { lines: [], rate: undefined, state: "connecting" };

/** What all runs print that match, as they do: from now on, while it is on. */
export function useWatch(filter: LogFilter, on: boolean): Watch {
  const live = useLive();
  const [watch, setWatch] = useState(nothing);
  const url = watchUrl(filter);
  useEffect(() => {
    setWatch(nothing);
    if (!on || !live) return undefined;
    let fresh: LogHit[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const some = fresh;
      fresh = [];
      setWatch((was) => ({ ...was, lines: [...some, ...was.lines].slice(0, kept) }));
    };
    const stop = follow({
      url,
      onState: (state) => setWatch((was) => ({ ...was, state })),
      onEvent: ({ event, data }) => {
        if (event === "lines") {
          fresh = [...(JSON.parse(data) as LogHit[]).reverse(), ...fresh].slice(0, kept);
          timer ??= setTimeout(flush, flushEvery);
        } else if (event === "rate") {
          const rate = JSON.parse(data) as LogRate;
          setWatch((was) => ({ ...was, rate: rate.lines > 0 ? rate : undefined }));
        }
        return undefined;
      },
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [url, on, live]);
  return watch;
}
