import { TriangleAlert } from "lucide-react";
import { Suspense } from "react";
import { usePageWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import type { RangeProblem, TimeRange } from "@/lib/timerange";
import { rangeText } from "./RangePicker";
import type { Ranged } from "./useRange";

/** Says what is wrong with the range of an address, or what was cut from it; nothing where all is well. */
export function RangeNote({ of: { range, problem } }: { of: Ranged }) {
  if (!problem) return null;
  return (
    <Suspense>
      <Problem problem={problem} range={range} />
    </Suspense>
  );
}

function Problem({ problem, range }: { problem: RangeProblem; range: TimeRange }) {
  return (
    <p className="note warn rangenote" role="status">
      <TriangleAlert size={15} aria-hidden />
      {useProblem(problem, range)}
    </p>
  );
}

function useProblem(problem: RangeProblem, range: TimeRange): string {
  const { t, f } = usePageWords();
  const used = rangeText(range, t, f, useNow());
  const says = t.range.problems;
  switch (problem.code) {
    case "range":
    case "from":
    case "to":
      return says[problem.code](problem.value, used);
    case "zone":
      return says.zone(problem.value);
    case "order":
    case "half":
      return says[problem.code](used);
    case "kept":
    case "gone":
      return says[problem.code](f.in(range.zone).full(problem.since));
    case "longest":
      return says.longest(problem.days, f.in(range.zone).full(problem.since));
  }
}
