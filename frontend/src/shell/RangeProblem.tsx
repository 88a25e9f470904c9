import { TriangleAlert } from "lucide-react";
import { usePageWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import type { RangeProblem as Problem, TimeRange } from "@/lib/timerange";
import { rangeText } from "./RangePicker";

interface RangeProblemProps {
  problem: Problem;
  range: TimeRange;
}

/** What is wrong with the range of an address, or what was cut from it. */
export default function RangeProblem({ problem, range }: RangeProblemProps) {
  return (
    <p className="note warn rangenote" role="status">
      <TriangleAlert size={15} aria-hidden />
      {useProblem(problem, range)}
    </p>
  );
}

function useProblem(problem: Problem, range: TimeRange): string {
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
