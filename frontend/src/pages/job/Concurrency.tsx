import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Job } from "@/api/schema.gen";
import { usePageT } from "@/i18n";
import { refOf } from "@/lib/jobref";
import { UsageCard } from "@/shell/UsageCard";

const charts = ["slots", "waiting"] as const;

/** How many runs of a job ran at once, and how many may. */
export default function Concurrency({ job }: { job: Job }) {
  const { concurrency: c } = usePageT().job;
  const navigate = useNavigate({ from: "/jobs/$group/$name" });
  const {
    policy = "allow",
    key,
    total,
    limit: each = policy === "allow" ? undefined : 1,
  } = job.overlap ?? {};
  const limit = key ? total : each;
  return (
    <UsageCard
      of={{ job: refOf(job.job) }}
      title={c.title}
      slots={c.atOnce}
      limit={limit ? { value: limit, text: c.limit(limit) } : undefined}
      charts={charts}
      search={useSearch({ from: "/jobs/$group/$name" })}
      onSearch={(search) => void navigate({ search, replace: true })}
    />
  );
}
