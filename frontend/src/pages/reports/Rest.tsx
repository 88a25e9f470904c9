import type { Overview } from "@/api/schema.gen";
import { Slowest, Unhealthy } from "./JobRows";

/** The reports below the window of the first page. */
export default function Rest({ report }: { report: Overview }) {
  return (
    <>
      <Unhealthy rows={report.failing} />
      <Slowest rows={report.slowest} />
    </>
  );
}
