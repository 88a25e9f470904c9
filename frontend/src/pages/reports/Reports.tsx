import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { overviewQueries } from "@/api/overview";
import type { Overview } from "@/api/schema.gen";
import { Failed, Skeleton } from "@/components/Panel";
import { useNear } from "@/components/useNear";
import { useNow } from "@/lib/now";
import type { Scoped } from "@/shell/useScope";
import { Fingerprints } from "./Fingerprints";
import { Trend } from "./Trend";

const Rest = lazy(() => import("./Rest"));

/** What became of runs in a range: how it goes, what fails and how, what is slow, when it is busy. */
export default function Reports({ of: { range, firstDay, search, scope } }: { of: Scoped }) {
  const query = useQuery(overviewQueries(range, { now: useNow(), firstDay }, scope).reports);
  const { data } = query;
  if (query.isError && !data) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  if (!data) return <Skeleton rows={6} />;
  const grid = query.isPlaceholderData ? "grid halves stale" : "grid halves";
  return (
    <>
      <div className={`${grid} steady`}>
        <Trend rows={data.trend} from={data.from} to={data.to} />
        <Fingerprints failures={data.failures} all={{ ...search, ...scope }} />
      </div>
      <Below className={grid} report={data} />
    </>
  );
}

/** What is below the window at first. It asks for more, and so waits until it is near. */
function Below({ className, report }: { className: string; report: Overview }) {
  const [part, isNear] = useNear<HTMLDivElement>();
  return (
    <div className={isNear ? className : `${className} unseen`} ref={part}>
      {isNear && (
        <Suspense fallback={<Skeleton rows={6} />}>
          <Rest report={report} />
        </Suspense>
      )}
    </div>
  );
}
