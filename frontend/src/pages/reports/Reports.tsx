import { useQuery } from "@tanstack/react-query";
import { overviewQueries } from "@/api/overview";
import { Failed, Skeleton } from "@/components/Panel";
import { useNow } from "@/lib/now";
import type { Zoom } from "@/lib/ranges";
import type { Range } from "@/router";
import { Busiest } from "./Busiest";
import { Fingerprints } from "./Fingerprints";
import { Slowest, Unhealthy } from "./JobRows";
import { Trend } from "./Trend";

/** What became of runs in a range: how it goes, what fails and how, what is slow, when it is busy. */
export default function Reports({ range, zoom }: { range: Range; zoom?: Zoom | undefined }) {
  const query = useQuery(overviewQueries(range, useNow(), zoom).reports);
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
