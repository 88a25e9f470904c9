import { lazy, Suspense } from "react";
import type { Ranged } from "./useRange";

const RangeProblem = lazy(() => import("./RangeProblem"));

/** Says what is wrong with the range of an address, or what was cut from it; nothing where all is well. */
export function RangeNote({ of: { range, problem } }: { of: Ranged }) {
  if (!problem) return null;
  return (
    <Suspense>
      <RangeProblem problem={problem} range={range} />
    </Suspense>
  );
}
