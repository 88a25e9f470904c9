import { useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { SearchX } from "lucide-react";
import { type AuditFilter, auditExport, auditList } from "@/api/access";
import { Button } from "@/components/Button";
import { ExportMenu } from "@/components/ExportMenu";
import { FilterChip } from "@/components/FilterChip";
import { FilterField } from "@/components/FilterField";
import { More } from "@/components/More";
import { Empty } from "@/components/Panel";
import { Sideways } from "@/components/Sideways";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { allRanges } from "@/lib/timerange";
import { NotAllowed } from "@/shell/Allowed";
import { GroupFilter } from "@/shell/GroupFilter";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { RangeNote } from "@/shell/RangeNote";
import { RangePicker } from "@/shell/RangePicker";
import { useRange } from "@/shell/useRange";
import { AuditTable } from "./AuditTable";

/** Who changed what, everywhere: for administrators. */
export default function AuditPage() {
  const t = usePageT();
  if (useMay()("admin", "*")) return <Entries />;
  return (
    <Page crumbs={[{ text: t.nav.audit }]}>
      <NotAllowed deed="admin" group="*" />
    </Page>
  );
}

function Entries() {
  const t = usePageT();
  const f = useFormat();
  const navigate = useNavigate({ from: "/audit" });
  const search = useSearch({ from: "/audit" });
  const { q, user, operation, group } = search;
  const ranged = useRange(search, { usual: "all", offers: allRanges, within: [q, user, operation, group] });
  const filter: AuditFilter = { object: q, user, operation, group, ...ranged.window };
  const list = useInfiniteQuery(auditList(filter));
  const entries = list.data?.pages.flatMap((p) => p.items) ?? [];
  const { since, as_of } = list.data?.pages.at(-1) ?? {};
  const set = (change: Partial<typeof search>) =>
    void navigate({ search: (was) => ({ ...was, ...change }), replace: true });
  const filtered = Boolean(q || user || operation || group || ranged.range.name !== "all");
  const users = [...new Set([...(user ? [user] : []), ...entries.map((e) => e.user)])].sort();
  return (
    <Page
      crumbs={[{ text: t.nav.audit }]}
      actions={
        <>
          <ExportMenu name="audit" href={(format) => auditExport(filter, format)} />
          <RangePicker of={ranged} onChange={set} />
        </>
      }
      head={
        <div className="filters">
          <FilterField
            value={q ?? ""}
            placeholder={t.audit.filter}
            onChange={(text) => set({ q: text || undefined })}
          />
          <FilterChip
            name={t.audit.columns.who}
            options={users.map((u) => ({ value: u, label: u }))}
            chosen={user ? [user] : []}
            onChange={([next]) => set({ user: next })}
          />
          <FilterChip
            name={t.audit.columns.what}
            options={Object.entries(t.audit.operations).map(([value, label]) => ({ value, label }))}
            chosen={operation ? [operation] : []}
            onChange={([next]) => set({ operation: next })}
          />
          <GroupFilter group={group} onChange={(next) => set({ group: next })} />
          {filtered && (
            <Button look="ghost" small onClick={() => void navigate({ search: {} })}>
              {t.act.clearFilters}
            </Button>
          )}
        </div>
      }
    >
      <RangeNote of={ranged} />
      {since && <p className="hint c-warn">{t.audit.since(f.full(since))}</p>}
      {as_of && <p className="hint c-warn">{t.audit.asOf(f.full(as_of))}</p>}
      <Sideways stale={list.isPlaceholderData}>
        {!list.data ? (
          <Waiting on={list} rows={14} />
        ) : entries.length === 0 && !list.hasNextPage ? (
          <Empty icon={SearchX} title={t.audit.none} hint={filtered ? t.audit.noneHint : undefined} />
        ) : (
          <AuditTable entries={entries} withObject />
        )}
      </Sideways>
      {list.data && <More of={list} end={entries.length > 0 ? t.audit.end : undefined} />}
    </Page>
  );
}
