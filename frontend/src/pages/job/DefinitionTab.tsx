import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { JobItem } from "@/api/schema.gen";
import { yamlQuery } from "@/api/yaml";
import { CodeEditor } from "@/components/CodeEditor";
import { CopyButton } from "@/components/Copy";
import { Card } from "@/components/Panel";
import { Segments } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { writeJson } from "@/lib/exact";
import { definitionOf } from "@/lib/jobdoc";

/** The whole document of a job, as the command line would apply it. */
export default function DefinitionTab({ item }: { item: JobItem }) {
  const t = usePageT();
  const [form, setForm] = useState<"yaml" | "json">("yaml");
  const document = definitionOf(item.definition);
  const [yaml = ""] = useQuery(yamlQuery([document])).data ?? [];
  const text = form === "yaml" ? yaml : writeJson(document, 2);
  return (
    <div className="pad">
      <Card
        title={t.job.tabs.definition}
        note={`v${item.definition.version}`}
        aside={
          <>
            <CopyButton text={text} label={t.act.copy} />
            <Segments
              label={t.job.tabs.definition}
              value={form}
              onChange={setForm}
              options={[
                { value: "yaml", label: t.job.definition.yaml },
                { value: "json", label: t.job.definition.json },
              ]}
            />
          </>
        }
      >
        <div className="b">
          <CodeEditor label={t.job.tabs.definition} language={form} value={text} rows={12} />
        </div>
      </Card>
    </div>
  );
}
