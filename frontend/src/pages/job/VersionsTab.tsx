import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { RotateCcw } from "lucide-react";
import { useState } from "react";
import { refOf, refreshJobs, saveJob, versionsQuery } from "@/api/jobs";
import type { JobItem, JobVersion } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Diff } from "@/components/CodeEditor";
import { Dialog } from "@/components/Dialog";
import { Card, Empty } from "@/components/Panel";
import { Ago } from "@/components/Time";
import { toast } from "@/components/Toasts";
import { Waiting } from "@/components/Waiting";
import { useT } from "@/i18n";
import { definitionOf, toYaml } from "@/lib/jobdoc";
import { useComplain } from "@/shell/actions";

/** What a job was, version by version: what each changed, and a way back. */
export default function VersionsTab({ item, etag }: { item: JobItem; etag: string }) {
  const t = useT();
  const v = t.job.versions;
  const navigate = useNavigate();
  const ref = refOf(item.definition.job);
  const list = useQuery(versionsQuery(ref));
  const { v: wanted } = useSearch({ strict: false });
  const [restoring, setRestoring] = useState<JobVersion>();
  const versions = list.data?.items ?? [];
  const chosen = versions.find((x) => x.version === wanted) ?? versions[0];
  const before = chosen && versions.find((x) => x.version < chosen.version);
  const choose = (version: number) =>
    void navigate({
      to: "/jobs/$group/$name/$tab",
      params: { ...ref, tab: "versions" },
      search: { v: version },
      replace: true,
    });
  if (!list.data) return <Waiting on={list} />;
  return (
    <div className="pad versions">
      <Card>
        <ul className="vlist">
          {versions.map((x) => (
            <li key={x.version}>
              <button type="button" aria-pressed={x === chosen} onClick={() => choose(x.version)}>
                <span className="row g2">
                  <b className="num">v{x.version}</b>
                  {x.version === item.definition.version && <span className="tag">{v.current}</span>}
                  {x.deleted && <span className="tag">{v.deleted}</span>}
                  <span className="right mut">
                    <Ago at={x.effective_from} />
                  </span>
                </span>
                <span className="mut trunc">
                  {[x.author || v.nobody, x.note].filter(Boolean).join(" · ")}
                </span>
              </button>
            </li>
          ))}
        </ul>
      </Card>
      {chosen && (
        <Card
          title={before ? `v${before.version} → v${chosen.version}` : `v${chosen.version}`}
          note={chosen.note}
          aside={
            chosen.version !== item.definition.version &&
            !chosen.deleted && (
              <Button small icon={RotateCcw} onClick={() => setRestoring(chosen)}>
                {v.restore}
              </Button>
            )
          }
        >
          <div className="b">
            <Difference before={before} after={chosen} />
          </div>
        </Card>
      )}
      {restoring && <Restore version={restoring} etag={etag} onClose={() => setRestoring(undefined)} />}
    </div>
  );
}

function Difference({ before, after }: { before: JobVersion | undefined; after: JobVersion }) {
  const t = useT();
  const { data } = useQuery({
    queryKey: ["yaml", "diff", after.job, before?.version, after.version],
    queryFn: async () => ({
      before: before ? await toYaml(definitionOf(before)) : "",
      after: await toYaml(definitionOf(after)),
    }),
  });
  if (!data) return null;
  if (data.before === data.after) return <Empty title={t.job.versions.same} />;
  return <Diff label={t.job.versions.compare} language="yaml" {...data} />;
}

function Restore({ version, etag, onClose }: { version: JobVersion; etag: string; onClose(): void }) {
  const t = useT();
  const client = useQueryClient();
  const complain = useComplain();
  const save = useMutation({
    mutationFn: () => saveJob(definitionOf(version), { etag, note: `v${version.version}` }),
    onError: complain,
    onSuccess: (saved) => {
      toast({ text: t.done.saved(version.job, saved.definition.version) });
      void refreshJobs(client);
      onClose();
    },
  });
  return (
    <Dialog
      title={t.job.versions.restoreAsk(version.version)}
      hint={t.job.versions.restoreHint}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button look="primary" busy={save.isPending} onClick={() => save.mutate()}>
            {t.job.versions.restore}
          </Button>
        </>
      }
    >
      {null}
    </Dialog>
  );
}
