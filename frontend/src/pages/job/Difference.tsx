import { useQuery } from "@tanstack/react-query";
import type { JobVersion } from "@/api/schema.gen";
import { yamlQuery } from "@/api/yaml";
import { CodeEditor, Diff } from "@/components/CodeEditor";
import { Empty } from "@/components/Panel";
import { usePageT } from "@/i18n";
import { definitionOf } from "@/lib/jobdoc";

/** A version of a job beside one before it: what was changed. */
export function Difference({ before, after }: { before: JobVersion | undefined; after: JobVersion }) {
  const t = usePageT();
  const { data } = useQuery(yamlQuery([before && definitionOf(before), definitionOf(after)]));
  if (!data) return null;
  const [was = "", is = ""] = data;
  // There is nothing beside which the first version could stand.
  if (!before) return <CodeEditor label={t.job.tabs.definition} language="yaml" value={is} rows={8} />;
  if (was === is) return <Empty title={t.job.versions.same} />;
  return <Diff label={t.job.versions.compare} language="yaml" before={was} after={is} />;
}
