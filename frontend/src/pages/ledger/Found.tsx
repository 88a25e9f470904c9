import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, TriangleAlert } from "lucide-react";
import { discrepanciesFound } from "@/api/ledger";
import { JobTitle } from "@/components/JobTitle";
import { Card } from "@/components/Panel";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { useSayer } from "@/lib/reason";
import type { Scope } from "@/lib/scope";

/** What the continuous audit found in the range, and which of it has healed since. */
export function Found({ range, scope }: { range: { from?: string; to?: string }; scope: Scope }) {
  const t = usePageT();
  const { say } = useSayer();
  const f = useFormat();
  const now = useNow();
  const page = useQuery(discrepanciesFound({ ...range, ...scope })).data;
  const found = page?.items ?? [];
  if (found.length === 0) return null;
  return (
    <Card title={t.ledger.found} note={page?.next && t.ledger.newest(found.length)}>
      <ul className="list">
        {found.map((x) => (
          <li key={x.run_id} className="li">
            {x.healed_at ? (
              <CircleCheck size={15} className="c-ok" aria-hidden />
            ) : (
              <TriangleAlert size={15} className="c-bad" aria-hidden />
            )}
            <Link to="/jobs/$group/$name" params={refOf(x.job)} className="name">
              <JobTitle job={x.job} keyed />
            </Link>
            <span className="num mut">{f.short(x.fire_time, now)}</span>
            <span className="sec grow trunc">{say(x.healed_at ? x.healed : x.reason)}</span>
            <span className="mut">
              {x.healed_at ? t.ledger.healedAt(f.short(x.healed_at, now)) : t.ledger.notHealed}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
