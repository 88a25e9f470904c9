import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListTree } from "lucide-react";
import { jobQuery } from "@/api/jobs";
import type { Child, JobItem } from "@/api/schema.gen";
import { JobTitle } from "@/components/JobTitle";
import { Card } from "@/components/Panel";
import { Status } from "@/components/Status";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";

/** How far the chain is followed. */
const deepest = 4;

/** Which jobs run after this one, and after those, with what became of each last. */
export function Chain({ item }: { item: JobItem }) {
  const { t } = usePageWords();
  const { children = [], job } = item.definition;
  if (children.length === 0) return null;
  return (
    <Card title={t.job.chain} note={t.job.chainHint}>
      <div className="b">
        <ul className="chain">
          {children.map((c) => (
            <Step key={c.job} child={c} above={[job]} />
          ))}
        </ul>
      </div>
    </Card>
  );
}

/** One step of the chain, and those below it. above are the jobs that led here: none of them is followed again. */
function Step({ child, above }: { child: Child; above: string[] }) {
  const { t } = usePageWords();
  const seen = above.includes(child.job);
  const job = useQuery({ ...jobQuery(refOf(child.job), 0, 1), enabled: !seen, retry: false }).data?.item;
  const last = job?.last_runs?.[0];
  const next = job?.definition.children ?? [];
  return (
    <li>
      <span className="row g2">
        {last ? <Status status={last.status} bare /> : <ListTree size={14} className="mut" aria-hidden />}
        <Link to="/jobs/$group/$name" params={refOf(child.job)} className="link trunc">
          <JobTitle job={child.job} keyed />
        </Link>
        <span className="right mut nowrap">{seen ? t.job.again : t.run.after[child.on ?? "success"]}</span>
      </span>
      {!seen && next.length > 0 && above.length < deepest && (
        <ul>
          {next.map((c) => (
            <Step key={c.job} child={c} above={[...above, child.job]} />
          ))}
        </ul>
      )}
    </li>
  );
}
