import { useQuery } from "@tanstack/react-query";
import { overviewQuery } from "@/api/reports";
import { Failed, Skeleton } from "@/components/Panel";
import { useNow } from "@/lib/now";
import { alignedEnd, spans } from "@/lib/ranges";
import type { Range } from "@/router";
import { Busiest } from "./Busiest";
import { Fingerprints } from "./Fingerprints";
import { Slowest, Unhealthy } from "./JobRows";
import { Trend } from "./Trend";

/** The server's counts are by the hour: a range is asked for anew that often, and every minute while it lasts. */
const step = 300_000;

/** What became of runs in a range: how it goes, what fails and how, what is slow, when it is busy. */
export default function Reports({ range }: { range: Range }) {
  const to = alignedEnd(useNow(), step);
  const iso = (ms: number) => new Date(ms).toISOString();
  const query = useQuery(overviewQuery({ from: iso(to - spans[range]), to: iso(to) }));
  const { data } = query;
  if (query.isError && !data) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  if (!data) return <Skeleton rows={6} />;
  return (
    <div className={query.isPlaceholderData ? "grid halves stale" : "grid halves"}>
      <Trend rows={data.trend} from={data.from} to={data.to} />
      <Fingerprints failures={data.failures} />
      <Unhealthy rows={data.failing} />
      <Slowest rows={data.slowest} />
      <Busiest rows={data.busiest} />
    </div>
  );
}
