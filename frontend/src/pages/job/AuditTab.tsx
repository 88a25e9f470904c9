import { useInfiniteQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { auditList } from "@/api/access";
import { More } from "@/components/More";
import { Card, Empty } from "@/components/Panel";
import { Sideways } from "@/components/Sideways";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { AuditTable } from "@/pages/audit/AuditTable";

/** Who changed, ran or paused the job, alone or together with others. */
export default function AuditTab({ job }: { job: string }) {
  const t = usePageT();
  const list = useInfiniteQuery(auditList({ job }));
  const entries = list.data?.pages.flatMap((p) => p.items) ?? [];
  if (!list.data) return <Waiting on={list} />;
  return (
    <div className="pad">
      <Card title={t.job.tabs.audit}>
        {entries.length === 0 ? (
          <Empty icon={History} title={t.audit.none} />
        ) : (
          <Sideways>
            <AuditTable entries={entries} />
          </Sideways>
        )}
      </Card>
      <More of={list} />
    </div>
  );
}
