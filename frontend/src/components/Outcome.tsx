import type { StatusCounts } from "@/api/schema.gen";
import { useWords } from "@/lib/format";
import { failures } from "@/lib/status";

/** What became of some runs, as three numbers; nothing where there were none. */
export function Outcome({ counts }: { counts: StatusCounts }) {
  const { t, f } = useWords();
  const bad = failures.reduce((n, s) => n + (counts[s] ?? 0), 0);
  const ok = counts.succeeded ?? 0;
  const rest = Object.values(counts).reduce((a, b) => a + b, 0) - bad - ok;
  if (bad + ok + rest === 0) return null;
  return (
    <span className="outcome num">
      {ok > 0 && (
        <span className="c-ok" title={t.status.succeeded}>
          {f.number(ok)}
        </span>
      )}
      {bad > 0 && (
        <span className="c-bad" title={t.status.failed}>
          {f.number(bad)}
        </span>
      )}
      {rest > 0 && (
        <span className="c-idle" title={t.overview.other}>
          {f.number(rest)}
        </span>
      )}
    </span>
  );
}
