import { useQuery } from "@tanstack/react-query";
import { Hourglass } from "lucide-react";
import { deadlinesQuery } from "@/api/deadlines";
import { formatDuration } from "@/lib/duration";
import { usePageWords } from "@/lib/format";
import { useNow } from "@/lib/now";

/** Warns that a live run will likely miss its deadline, or has missed it, and says what follows from what. */
export function DeadlineNotice({ runId }: { runId: string }) {
  const { t, f } = usePageWords();
  const now = useNow();
  const deadline = useQuery(deadlinesQuery(runId)).data?.items[0];
  if (!deadline?.late) return null;
  const { at, by, alert = "", expected_end: end, usual_ms: usual, runs } = deadline;
  const w = t.run.deadline;
  const is = w.is(f.dated(at, now), by === "alert" ? w.ofAlert(alert) : by);
  return (
    <div className="note warn row g3 wrap" role="status">
      <Hourglass size={14} aria-hidden />
      <span className="grow">
        {Date.parse(at) < now ? w.missed(is) : w.willMiss(is)}
        {end && usual !== undefined && runs !== undefined && (
          <span className="sec"> {w.expected(f.dated(end, now), runs, formatDuration(usual))}</span>
        )}
      </span>
    </div>
  );
}
