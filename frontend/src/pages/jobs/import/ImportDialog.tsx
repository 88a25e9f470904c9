import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import {
  CircleCheck,
  CircleMinus,
  CircleX,
  FileQuestion,
  FileUp,
  GitCompareArrows,
  type LucideIcon,
  Pencil,
  Plus,
} from "lucide-react";
import { type Ref, useEffect, useId, useRef, useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { refreshJobs } from "@/api/jobs";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { Check } from "@/components/fields";
import { Refusal } from "@/components/Refusal";
import { Segments } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { localZone } from "@/lib/format";
import { useSayer } from "@/lib/reason";
import type { Tone } from "@/lib/status";
import { apply, check, isSaved, type Kind, type Outcome, type Row, readable } from "./rows";

const looks: Record<Outcome, [Tone, LucideIcon]> = {
  created: ["ok", Plus],
  changed: ["warn", Pencil],
  conflict: ["bad", GitCompareArrows],
  unchanged: ["idle", CircleCheck],
  skipped: ["idle", CircleMinus],
  broken: ["bad", CircleX],
  leftover: ["warn", FileQuestion],
};

const examples: Record<Kind, string> = {
  yaml: 'job: billing/report\nschedule:\n  cron: "0 3 * * *"\ntask:\n  shell: ./report.sh',
  crontab: "# name: nightly-report\n0 3 * * *  /srv/report.sh",
  "xxl-job": "mysqldump xxl_job xxl_job_group xxl_job_info > dump.sql",
};

/** Brings jobs in from another scheduler or from documents: first what would become of each, then, if one likes it, the deed. */
export default function ImportDialog({ onClose }: { onClose(): void }) {
  const t = usePageT();
  const words = useSayer();
  const w = t.importing;
  const ids = useId();
  const client = useQueryClient();
  const groups = useQuery(groupsQuery).data?.items ?? [];
  const [kind, setKind] = useState<Kind>("yaml");
  const [text, setText] = useState("");
  const [file, setFile] = useState<string>();
  const [group, setGroup] = useState<string>();
  const [overwrite, setOverwrite] = useState(false);
  const [paused, setPaused] = useState(false);
  const [workflows, setWorkflows] = useState(false);
  const [zone, setZone] = useState(localZone);
  // A dump says of which group a job is.
  const intoGroup = group ?? (kind === "crontab" ? "default" : "");
  const source = { kind, text, file, group: intoGroup, zone, paused, workflows };
  const dry = useMutation({ mutationFn: () => check(source, w.note, w.noDocument, words) });
  const deed = useMutation({
    mutationFn: (rows: Row[]) => apply(rows, w.note, overwrite, words),
    onSettled: () => refreshJobs(client),
  });
  const rows = deed.data ?? dry.data;
  const willChange = (dry.data ?? []).filter((r) => isSaved(r, overwrite));
  const conflicts = (dry.data ?? []).filter((r) => r.outcome === "conflict").length;
  const again = () => {
    dry.reset();
    deed.reset();
    setOverwrite(false);
  };
  const trouble = dry.error ?? deed.error;
  const area = useRef<HTMLTextAreaElement>(null);
  const table = useRef<HTMLElement>(null);
  const stage = deed.data ? "done" : rows ? "looked" : "asked";
  const was = useRef(stage);
  const open = async (chosen: File | undefined) => {
    if (!chosen) return;
    const read = await chosen.text();
    setText(read);
    setFile(chosen.name);
    setKind(readable(chosen.name, read));
    again();
    area.current?.focus();
  };
  // What was pressed is gone then; the keyboard goes on with what came of it.
  useEffect(() => {
    if (was.current === stage) return;
    was.current = stage;
    (stage === "asked" ? area : table).current?.focus();
  }, [stage]);
  return (
    <Dialog
      title={w.title}
      hint={rows ? (deed.data ? w.done(deed.data) : w.dry(rows)) : w.hint}
      open
      drawer
      onClose={onClose}
      footer={
        deed.data ? (
          <Button look="primary" onClick={onClose}>
            {t.act.close}
          </Button>
        ) : rows ? (
          <>
            <Button onClick={again}>{w.back}</Button>
            <Button
              look="primary"
              busy={deed.isPending}
              disabled={willChange.length === 0}
              onClick={() => deed.mutate(dry.data ?? [])}
            >
              {w.go(willChange.length, kind !== "yaml")}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>{t.act.cancel}</Button>
            <Button
              look="primary"
              busy={dry.isPending}
              disabled={text.trim() === ""}
              onClick={() => dry.mutate()}
            >
              {w.check}
            </Button>
          </>
        )
      }
    >
      <Refusal error={trouble} />
      {rows ? (
        <>
          {conflicts > 0 && !deed.data && (
            <Check label={w.overwrite(conflicts)} checked={overwrite} onChange={setOverwrite} />
          )}
          <Rows ref={table} rows={rows} numbered={kind === "xxl-job"} />
        </>
      ) : (
        <>
          <div className="row g3 wrap">
            <Segments
              label={w.format}
              value={kind}
              options={[
                { value: "yaml", label: "YAML" },
                { value: "crontab", label: "Crontab" },
                { value: "xxl-job", label: "XXL-JOB" },
              ]}
              onChange={setKind}
            />
            <label className="btn filebtn">
              <FileUp size={14} aria-hidden />
              {w.file}
              <input
                type="file"
                className="sr"
                accept=".yaml,.yml,.json,.txt,.crontab,.sql,text/plain"
                onChange={(e) => void open(e.target.files?.[0])}
              />
            </label>
          </div>
          {kind !== "yaml" && (
            <div className="two">
              <label className="f" htmlFor={`${ids}g`}>
                <span className="lab">{kind === "crontab" ? t.jobs.group : w.groupElse}</span>
                <span className="inp">
                  <input
                    id={`${ids}g`}
                    className="mono"
                    list={`${ids}l`}
                    value={intoGroup}
                    onChange={(e) => setGroup(e.target.value.trim())}
                  />
                </span>
                <datalist id={`${ids}l`}>
                  {groups.map((g) => (
                    <option key={g.executor_group} value={g.executor_group} />
                  ))}
                </datalist>
              </label>
              <label className="f" htmlFor={`${ids}z`}>
                <span className="lab">{w.zone}</span>
                <span className="inp">
                  <input id={`${ids}z`} value={zone} onChange={(e) => setZone(e.target.value.trim())} />
                </span>
              </label>
            </div>
          )}
          <label className="f importtext" htmlFor={`${ids}t`}>
            <span className="lab">{w.texts[kind]}</span>
            <textarea
              ref={area}
              id={`${ids}t`}
              className="area mono"
              spellCheck={false}
              placeholder={examples[kind]}
              value={text}
              onChange={(e) => setText(e.target.value)}
            />
          </label>
          <Check label={w.paused} checked={paused} onChange={setPaused} />
          {kind === "xxl-job" && <Check label={w.workflows} checked={workflows} onChange={setWorkflows} />}
        </>
      )}
    </Dialog>
  );
}

function Rows({ rows, numbered, ref }: { rows: Row[]; numbered: boolean; ref: Ref<HTMLElement> }) {
  const t = usePageT();
  const w = t.importing;
  return (
    <section ref={ref} className="sideways importrows" tabIndex={0} aria-label={w.outcome}>
      <table className="tbl c">
        <thead>
          <tr>
            <th>{w.outcome}</th>
            <th>{w.name}</th>
            <th className="r">{numbered ? w.number : w.line}</th>
            <th>{w.why}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => {
            const [tone, Icon] = looks[r.outcome];
            return (
              <tr key={`${r.line ?? ""} ${r.name}`}>
                <td>
                  <span className={`st c-${tone}`}>
                    <Icon size={14} aria-hidden />
                    {r.saved ? w.saved : w.outcomes[r.outcome]}
                  </span>
                </td>
                <td>
                  <span className="two-lines">
                    <span>{r.name || "—"}</span>
                    {r.title && <span className="mut trunc">{r.title}</span>}
                  </span>
                </td>
                <td className="r num mut">{r.line ?? "—"}</td>
                <td className="result">
                  <span className={r.outcome === "broken" ? "c-bad" : "sec"}>
                    {r.outcome === "leftover"
                      ? w.leftoverWhy
                      : r.outcome === "conflict" && !r.saved
                        ? w.conflictWhy
                        : r.note}
                  </span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
