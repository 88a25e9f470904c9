import { useQuery } from "@tanstack/react-query";
import { useParams, useSearch } from "@tanstack/react-router";
import { jobSnapshot } from "@/api/editor";
import type { Job } from "@/api/schema.gen";
import { may, meQuery } from "@/api/session";
import { Failed, Skeleton } from "@/components/Panel";
import { useEditorT } from "@/i18n";
import { localZone } from "@/lib/format";
import { definitionOf } from "@/lib/jobdoc";
import { refOf } from "@/lib/jobref";
import { NotAllowed } from "@/shell/Allowed";
import { type Crumb, Page } from "@/shell/Page";
import { Editor } from "./Editor";

/** A new job, empty or as a copy of another. */
export function NewJobPage() {
  const t = useEditorT();
  const { from, group } = useSearch({ from: "/jobs/new" });
  const can = useQuery(meQuery).data?.can;
  const crumbs: Crumb[] = [{ text: t.nav.jobs, to: "/jobs" }, { text: t.editor.newTitle }];
  const source = useQuery({
    ...jobSnapshot(refOf(from ?? "/"), "copy"),
    enabled: from !== undefined,
  });
  if (!may(can, "edit")) {
    return (
      <Page crumbs={crumbs}>
        <NotAllowed deed="edit" />
      </Page>
    );
  }
  if (from && !source.data) {
    return (
      <Page crumbs={crumbs}>
        {source.isError ? (
          <Failed error={source.error} onRetry={() => void source.refetch()} />
        ) : (
          <Skeleton />
        )}
      </Page>
    );
  }
  const copied = source.data && definitionOf(source.data.item.definition);
  const initial: Job = copied
    ? { ...copied, job: `${copied.job}-copy`, paused: true }
    : {
        job: `${group ?? (may(can, "edit", "default") ? "default" : can?.edit[0])}/`,
        schedule: { cron: "0 3 * * *", zone: localZone },
        task: { shell: "" },
      };
  return <Editor key={from ?? ""} initial={initial} crumbs={crumbs} />;
}

/** The next version of a job. */
export function EditJobPage() {
  const t = useEditorT();
  const ref = useParams({ from: "/jobs/$group/$name/edit" });
  const query = useQuery({
    ...jobSnapshot(ref, "edit"),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const crumbs: Crumb[] = [
    { text: t.nav.jobs, to: "/jobs" },
    { text: ref.name, to: "/jobs/$group/$name", params: ref },
    { text: t.editor.editTitle },
  ];
  if (!query.data) {
    return (
      <Page crumbs={crumbs}>
        {query.isError ? <Failed error={query.error} onRetry={() => void query.refetch()} /> : <Skeleton />}
      </Page>
    );
  }
  const { item, etag } = query.data;
  return (
    <Editor
      key={etag}
      initial={definitionOf(item.definition)}
      version={item.definition.version}
      etag={etag}
      crumbs={crumbs}
    />
  );
}
