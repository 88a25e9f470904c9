import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleCheck, CircleX } from "lucide-react";
import { useState } from "react";
import { refreshJobs } from "@/api/jobs";
import { applySpread, offsetsQuery, scheduleKey } from "@/api/schedule";
import { FormDialog } from "@/components/FormDialog";
import { JobTitle } from "@/components/JobTitle";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useSayer } from "@/lib/reason";
import { useMay } from "@/shell/may";

interface OffsetsDialogProps {
  from: number;
  to: number;
  group: string | undefined;
  onClose(): void;
}

interface Result {
  job: string;
  error: string | undefined;
}

/** Shows which jobs could fire a little later than others, and saves those that are chosen so. */
export function OffsetsDialog({ from, to, group, onClose }: OffsetsDialogProps) {
  const t = usePageT();
  const { sayError } = useSayer();
  const p = t.plan;
  const f = useFormat();
  const client = useQueryClient();
  const may = useMay();
  const iso = (ms: number) => new Date(ms).toISOString();
  const query = useQuery(offsetsQuery({ from: iso(from), to: iso(to), group }));
  const items = (query.data?.items ?? []).filter((x) => may("edit", refOf(x.job).group));
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const chosen = items.filter((x) => !left.has(x.job));
  const [results, setResults] = useState<Result[]>();
  const apply = useMutation({
    mutationFn: async () => {
      const done: Result[] = [];
      // One after the other: each is a version of its own, and the review says which failed.
      for (const x of chosen) {
        const error = await applySpread(refOf(x.job), x.spread, p.offsetNote).then(
          () => undefined,
          (e: unknown) => sayError(e),
        );
        done.push({ job: x.job, error });
        setResults([...done]);
      }
    },
    onSettled: () => {
      void refreshJobs(client);
      void client.invalidateQueries({ queryKey: scheduleKey });
    },
  });
  if (results && !apply.isPending) {
    const bad = results.filter((r) => r.error);
    return (
      <FormDialog
        title={p.offsets}
        hint={t.joblist.review.result(results.length - bad.length, bad.length)}
        wide
        verb={t.act.close}
        busy={false}
        onSubmit={onClose}
        onClose={onClose}
      >
        <ul className="names">
          {results.map((r) => (
            <li key={r.job}>
              {r.error ? (
                <CircleX size={14} className="c-bad" aria-hidden />
              ) : (
                <CircleCheck size={14} className="c-ok" aria-hidden />
              )}
              <JobTitle job={r.job} keyed />
              {r.error && <span className="mut">{r.error}</span>}
            </li>
          ))}
        </ul>
      </FormDialog>
    );
  }
  return (
    <FormDialog
      title={p.offsets}
      hint={p.offsetsHint}
      wide
      verb={results ? t.joblist.review.working(results.length, chosen.length) : p.applyOffsets(chosen.length)}
      busy={apply.isPending}
      disabled={chosen.length === 0}
      onSubmit={() => apply.mutate()}
      onClose={onClose}
    >
      {!query.data ? (
        <Waiting on={query} rows={4} />
      ) : items.length === 0 ? (
        <p className="sec">{p.noOffsets}</p>
      ) : (
        <>
          <p className="note info">
            {p.offsetsEffect(f.number(query.data.busiest_before), f.number(query.data.busiest_after))}
          </p>
          <section className="firelist offsets" aria-label={p.offsets} tabIndex={0}>
            <table className="tbl c">
              <thead>
                <tr>
                  <th>{t.joblist.columns.job}</th>
                  <th className="r">{p.fires}</th>
                  <th>{p.spread}</th>
                </tr>
              </thead>
              <tbody>
                {items.map((x) => (
                  <tr key={x.job}>
                    <td className="wide">
                      <label className="check small">
                        <input
                          type="checkbox"
                          className="ck"
                          checked={!left.has(x.job)}
                          onChange={(e) => {
                            const next = new Set(left);
                            if (e.target.checked) next.delete(x.job);
                            else next.add(x.job);
                            setLeft(next);
                          }}
                        />
                        <JobTitle job={x.job} keyed className="trunc" />
                      </label>
                    </td>
                    <td className="r num">{f.number(x.fires)}</td>
                    <td className="num">
                      <span className="mut">{t.act.unset}</span> → {x.spread}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
    </FormDialog>
  );
}
