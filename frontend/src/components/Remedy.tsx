import { Link } from "@tanstack/react-router";
import type { Reason } from "@/api/schema.gen";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { remedyOf } from "@/lib/remedy";

/** The way to what helps against a reason for which a job does not run. */
export function Remedy({ job, reason }: { job: string; reason: Reason | undefined }) {
  const { t } = usePageWords();
  const remedy = remedyOf(reason);
  const { group } = refOf(job);
  switch (remedy?.of) {
    case undefined:
      return null;
    case "executors":
      return (
        <Link to="/executors/$group" params={{ group }} className="link">
          {t.run.lookAtExecutors(group)}
        </Link>
      );
    case "runs":
      return (
        <Link to="/runs" search={{ job: [job], status: ["running", "pending", "queued"] }} className="link">
          {t.remedy.runs}
        </Link>
      );
    case "everything":
      return (
        <Link to="/cluster" className="link">
          {t.remedy.everything}
        </Link>
      );
    case "run":
      return (
        <Link to="/runs/$runId" params={{ runId: remedy.runId }} className="link">
          {t.remedy.run}
        </Link>
      );
  }
}
