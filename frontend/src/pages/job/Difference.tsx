import { useQuery } from "@tanstack/react-query";
import type { JobVersion } from "@/api/schema.gen";
import { CodeEditor, Diff } from "@/components/CodeEditor";
import { Empty } from "@/components/Panel";
import { usePageT } from "@/i18n";
import { definitionOf, toYaml } from "@/lib/jobdoc";

/** A version of a job beside one before it: what was changed. */
export function Difference({ before, after }: { before: JobVersion | undefined; after: JobVersion }) {
  const t = usePageT();
  const { data } = useQuery({
    queryKey: ["yaml", "diff", after.job, before?.version, after.version],
    queryFn: async () => ({
      before: before ? await toYaml(definitionOf(before)) : "",
      after: await toYaml(definitionOf(after)),
    }),
  });
  if (!data) return null;
  // There is nothing beside which the first version could stand.
  if (!before)
    return <CodeEditor label={t.job.tabs.definition} language="yaml" value={data.after} rows={8} />;
  if (data.before === data.after) return <Empty title={t.job.versions.same} />;
  return <Diff label={t.job.versions.compare} language="yaml" {...data} />;
}
