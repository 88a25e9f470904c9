import { CircleX, TriangleAlert } from "lucide-react";
import type { JobPatchItem } from "@/api/schema.gen";
import { ChangeList } from "@/components/ChangeList";
import { JobTitle } from "@/components/JobTitle";
import { usePageT } from "@/i18n";
import { useSayer } from "@/lib/reason";
import "./change.css";

const order = { refused: 0, changed: 1, unchanged: 2 } as const;

/** What becomes of each job, the refused ones first; those that stay as they are have no row. */
export function PatchList({ items }: { items: JobPatchItem[] }) {
  const c = usePageT().jobPatch;
  const { say, sayProblem } = useSayer();
  const rows = items
    .filter((x) => x.result !== "unchanged")
    .sort((a, b) => order[a.result] - order[b.result]);
  return (
    <section className="patched" aria-label={c.list} tabIndex={0}>
      <ul>
        {rows.map((x) => (
          <li key={x.job}>
            <span className="row g2 wrap">
              {x.problem && <CircleX size={14} className="c-bad" aria-hidden />}
              <JobTitle job={x.job} keyed />
              {x.version !== undefined && <span className="mut num">{c.version(x.version)}</span>}
            </span>
            {x.problem && <p className="c-bad">{sayProblem(x.problem)}</p>}
            {x.warnings?.map((w) => (
              <p key={`${w.field} ${say(w.reason)}`} className="note warn">
                <TriangleAlert size={15} aria-hidden />
                <span>
                  {w.field} {say(w.reason)}
                </span>
              </p>
            ))}
            {x.changes.length > 0 && <ChangeList changes={x.changes} />}
          </li>
        ))}
      </ul>
    </section>
  );
}
