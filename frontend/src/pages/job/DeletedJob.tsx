import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { versionsQuery } from "@/api/jobs";
import { runList } from "@/api/runs";
import { yamlQuery } from "@/api/yaml";
import { CodeEditor } from "@/components/CodeEditor";
import { More } from "@/components/More";
import { Card, Empty, Failed } from "@/components/Panel";
import { RunTable } from "@/components/RunTable";
import { Sideways } from "@/components/Sideways";
import { Waiting } from "@/components/Waiting";
import { usualRunColumns } from "@/lib/columns";
import { usePageWords } from "@/lib/format";
import { definitionOf } from "@/lib/jobdoc";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";

const columns = usualRunColumns("job");

interface DeletedJobProps {
  job: string;
  /** Why there is no job, to be shown if there never was one. */
  error: unknown;
  onRetry(): void;
}

/** What is left of a job that has been deleted: its runs, and what it was. There is nothing to do with it. */
export default function DeletedJob({ job, error, onRetry }: DeletedJobProps) {
  const { t, f } = usePageWords();
  const d = t.job.deletedJob;
  const now = useNow();
  const versions = useQuery({ ...versionsQuery(refOf(job)), retry: false });
  const runs = useInfiniteQuery(runList({ job: [job] }));
  const [end] = versions.data?.items ?? [];
  const last = versions.data?.items.find((v) => !v.deleted);
  const [yaml] = useQuery(yamlQuery([last && definitionOf(last)])).data ?? [];
  const items = runs.data?.pages.flatMap((p) => p.items) ?? [];
  if (versions.isPending || !runs.data) return <Waiting on={runs} />;
  if (!end?.deleted && items.length === 0) return <Failed error={error} onRetry={onRetry} />;
  return (
    <div className="pad grid">
      <p className="note warn" role="status">
        <Trash2 size={15} aria-hidden />
        <span>
          {end?.deleted
            ? d.by(end.author || t.job.versions.nobody, f.short(end.effective_from, now))
            : d.gone}{" "}
          {d.hint}
        </span>
      </p>
      <Card title={t.job.tabs.runs}>
        {items.length === 0 ? (
          <Empty title={t.job.noRuns} />
        ) : (
          <Sideways>
            <RunTable runs={items} columns={columns} />
          </Sideways>
        )}
      </Card>
      <More of={runs} />
      {last && yaml && (
        <Card title={t.job.tabs.definition} note={`v${last.version}`}>
          <div className="b">
            <CodeEditor label={t.job.tabs.definition} language="yaml" value={yaml} rows={8} />
          </div>
        </Card>
      )}
    </div>
  );
}
