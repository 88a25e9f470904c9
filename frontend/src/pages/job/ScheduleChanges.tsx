import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { versionsQuery } from "@/api/jobs";
import type { JobItem } from "@/api/schema.gen";
import { Card } from "@/components/Panel";
import { Ago } from "@/components/Time";
import { usePageT } from "@/i18n";
import { refOf } from "@/lib/jobref";
import { same } from "@/lib/merge";
import { expressionOf, scheduleInWords } from "@/lib/words";

/** Which versions of a job changed when it fires, and to what. */
export function ScheduleChanges({ item }: { item: JobItem }) {
  const t = usePageT();
  const ref = refOf(item.definition.job);
  const versions = (useQuery(versionsQuery(ref)).data?.items ?? []).filter((v) => !v.deleted);
  const changes = versions.filter((v, i) => !same(v.schedule, versions[i + 1]?.schedule));
  if (changes.length === 0) return null;
  return (
    <Card title={t.job.scheduleChanges}>
      <ul className="list">
        {changes.map((v) => (
          <li key={v.version} className="li">
            <span className="two-lines grow">
              <span>{scheduleInWords(v.schedule, t)}</span>
              <span className="mono mut">
                {[expressionOf(v.schedule), v.schedule?.zone].filter(Boolean).join(" · ")}
              </span>
            </span>
            <span className="mut">
              {v.author || t.job.versions.nobody} · <Ago at={v.effective_from} />
            </span>
            <Link
              to="/jobs/$group/$name/$tab"
              params={{ ...ref, tab: "versions" }}
              search={{ v: v.version }}
              className="link num"
            >
              v{v.version}
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}
