import { Link } from "@tanstack/react-router";
import { usePageWords } from "@/lib/format";
import type { JobRef } from "@/lib/jobref";
import type { Mark } from "@/lib/marks";
import { useNow } from "@/lib/now";
import { useMay } from "@/shell/may";

/** What was changed, and by whom. */
export function useMarkText(): (mark: Mark) => string {
  const { t } = usePageWords();
  return ({ version, entry }) => {
    if (version) return t.job.savedBy(version.version, version.author || t.job.versions.nobody);
    if (!entry) return "";
    const name = entry.operation.endsWith("Calendar") ? entry.object.replace(/^calendar /, "") : "";
    return t.job.changedBy(t.audit.operations[entry.operation] ?? entry.operation, name, entry.user);
  };
}

/** The marks of a chart as a list, the newest first. */
export function Marks({ marks, job }: { marks: Mark[]; job: JobRef }) {
  const { t, f } = usePageWords();
  const now = useNow();
  const textOf = useMarkText();
  const isAdmin = useMay()("admin", "*");
  if (marks.length === 0) return null;
  return (
    <details className="marks">
      <summary>{t.job.marks(marks.length)}</summary>
      <ul className="list">
        {[...marks].reverse().map((mark) => (
          <li key={mark.key} className="li">
            <time className="num mut" dateTime={mark.at} title={f.full(mark.at)}>
              {f.short(mark.at, now)}
            </time>
            <span className="grow">
              {textOf(mark)}
              {mark.version?.note && <span className="mut"> · {mark.version.note}</span>}
            </span>
            {mark.version && (
              <Link
                to="/jobs/$group/$name/$tab"
                params={{ ...job, tab: "versions" }}
                search={{ v: mark.version.version }}
                className="link num"
              >
                v{mark.version.version}
              </Link>
            )}
          </li>
        ))}
      </ul>
      {!isAdmin && <p>{t.job.onlyVersions}</p>}
    </details>
  );
}
