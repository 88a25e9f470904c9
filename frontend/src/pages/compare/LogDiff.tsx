import { useQuery } from "@tanstack/react-query";
import { comparedLogs } from "@/api/compare";
import type { Run } from "@/api/schema.gen";
import { Diff } from "@/components/CodeEditor";
import { Card } from "@/components/Panel";
import { Waiting } from "@/components/Waiting";
import { usePageWords } from "@/lib/format";

/** So many lines of each log are compared: the last ones, where a run went wrong. */
const most = 2000;

/** The logs of two attempts side by side, as they are without what they say of time. */
export function LogDiff({ before, after }: { before: Run | undefined; after: Run | undefined }) {
  const { t, f } = usePageWords();
  const c = t.run.compare;
  const logs = useQuery(comparedLogs([before, after], most));
  const longest = Math.max(before?.log_lines ?? 0, after?.log_lines ?? 0);
  return (
    <Card title={t.run.log} note={<span className="hide-s">{c.timeless}</span>}>
      <div className="b">
        {longest > most && <p className="note info">{c.bounded(f.number(most), f.number(longest))}</p>}
        {!logs.data ? (
          <Waiting on={logs} rows={8} />
        ) : logs.data.gone > 0 ? (
          <p className="mut">{t.run.logGone(logs.data.gone)}</p>
        ) : logs.data.a === logs.data.b ? (
          <p className="mut">{c.sameLog}</p>
        ) : (
          <Diff label={t.run.log} before={logs.data.a} after={logs.data.b} language="text" />
        )}
      </div>
    </Card>
  );
}
