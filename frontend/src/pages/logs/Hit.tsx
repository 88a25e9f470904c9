import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronsUpDown } from "lucide-react";
import { memo, useState } from "react";
import { linesAround } from "@/api/runs";
import type { LogHit, LogLine } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { JobName } from "@/components/JobName";
import { GroupDot } from "@/components/TaskIcon";
import { Waiting } from "@/components/Waiting";
import { usePageT } from "@/i18n";
import { plainText } from "@/lib/ansi";
import { useFormat } from "@/lib/format";
import { shortId } from "@/lib/ids";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { pieces, type Term } from "@/lib/searchwords";
import "@/styles/log.css";

/** How much of a line is shown; the run has all of it. */
const drawn = 600;
/** So many lines before a line that was found are shown around it, and as many after it. */
const around = 5;
const classes: Record<string, string> = { warn: " w", error: " e", debug: " d" };

interface HitProps {
  line: LogHit;
  terms: Term[];
  /** The line above is of another run. */
  first: boolean;
  onJob(job: string): void;
}

/** A line that was found. It leads to its place in its run, and shows what stands around it. */
export const Hit = memo(function Hit({ line, terms, first, onJob }: HitProps) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const [isOpen, setOpen] = useState(false);
  const ref = refOf(line.job);
  return (
    <li className={first ? "first" : undefined}>
      {first && (
        <div className="hitrun">
          <GroupDot group={ref.group} />
          <JobName {...ref} />
          <Link to="/runs/$runId" params={{ runId: line.run_id }} className="mono mut">
            {shortId(line.run_id)}
          </Link>
          {line.step && line.workflow_run_id && (
            <Link
              to="/runs/$runId"
              params={{ runId: line.workflow_run_id }}
              search={{ step: line.step }}
              className="link"
            >
              {t.steps.ofRun(line.step, shortId(line.workflow_run_id))}
            </Link>
          )}
          <span className="mut">{f.short(line.at, now)}</span>
          <Button small look="ghost" className="right" onClick={() => onJob(line.job)}>
            {t.logs.onlyJob}
          </Button>
        </div>
      )}
      <div className="hit">
        {isOpen ? <Around line={line} terms={terms} /> : <Line line={line} terms={terms} />}
        <IconButton
          icon={ChevronsUpDown}
          size={14}
          label={t.logs.around}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
      </div>
    </li>
  );
});

/** A line among those that its run printed before and after it. */
function Around({ line, terms }: { line: LogLine; terms: Term[] }) {
  const t = usePageT();
  const found = useQuery(linesAround(line, around));
  return (
    <section className="hitlines" aria-label={t.logs.around}>
      {found.data ? (
        found.data.items.map((l) => (
          <Line key={l.seq} line={l} terms={l.seq === line.seq ? terms : none} linked={l.seq === line.seq} />
        ))
      ) : (
        <Waiting on={found} rows={1} height={24} />
      )}
    </section>
  );
}

const none: Term[] = [];

function Line({ line, terms, linked }: { line: LogLine; terms: Term[]; linked?: boolean }) {
  const t = usePageT();
  const f = useFormat();
  const text = plainText(line.text);
  return (
    <Link
      to="/runs/$runId"
      params={{ runId: line.run_id }}
      search={{ attempt: line.attempt, piece: line.broadcast_index }}
      hash={`L${line.seq}`}
      className={`ll${classes[line.level] ?? ""}${linked ? " linked" : ""}`}
    >
      <span className="ln">{line.seq}</span>
      <span className="ts">{f.millis(line.at)}</span>
      <span className="lv" title={t.run.levels[line.level]} />
      <span className="m">
        {line.broadcast_index !== undefined && (
          <span className="tag">{t.logs.piece(line.broadcast_index)}</span>
        )}
        {pieces(text.slice(0, drawn), terms).map((p, i) =>
          // biome-ignore lint/suspicious/noArrayIndexKey: a line's parts do not move
          p.found ? <mark key={i}>{p.text}</mark> : p.text,
        )}
        {text.length > drawn && <span className="mut">{t.run.truncated(text.length - drawn)}</span>}
      </span>
    </Link>
  );
}
