import { Failed, Skeleton } from "./Panel";

interface WaitingProps {
  /** A query that has not answered yet. */
  on: { isError: boolean; error: unknown; refetch(): unknown };
  /** The shape of what will be there. */
  rows?: number;
  height?: number;
}

/** In the place of what a query has not brought: grey shapes, or why it failed. */
export function Waiting({ on, rows, height }: WaitingProps) {
  if (on.isError) return <Failed error={on.error} onRetry={() => void on.refetch()} />;
  return <Skeleton rows={rows} height={height} />;
}
