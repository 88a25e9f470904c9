import { memo, type ReactNode } from "react";
import type { LogLine } from "@/api/schema.gen";
import { useT } from "@/i18n";
import { parseAnsi, type Span } from "@/lib/ansi";

/** What of a line is drawn. One of a megabyte would take a second to lay out. */
const drawn = 2000;

interface LogRowProps {
  line: LogLine;
  time: string;
  /** What is looked for, in lower case. */
  needle: string;
  /** It has the match that is shown now. */
  current: boolean;
  linked: boolean;
  onLink(seq: number, range: boolean): void;
  onWhole(line: LogLine): void;
}

const levels: Record<string, string> = { warn: " w", error: " e", debug: " d" };

export const LogRow = memo(function LogRow({
  line,
  time,
  needle,
  current,
  linked,
  onLink,
  onWhole,
}: LogRowProps) {
  const t = useT();
  const cut = line.text.length > drawn;
  const spans = parseAnsi(cut ? line.text.slice(0, drawn) : line.text);
  // The system's own lines and what goes to stderr are told by more than colour.
  const kind = line.output === "system" ? " sys" : "";
  return (
    <div className={`ll${levels[line.level] ?? ""}${kind}${linked ? " linked" : ""}`} data-seq={line.seq}>
      <button
        type="button"
        className="ln"
        tabIndex={-1}
        aria-label={`${t.run.copyLink}: ${line.seq}`}
        onClick={(e) => onLink(line.seq, e.shiftKey)}
      >
        {line.seq}
      </button>
      <span className="ts">{time}</span>
      <span className="lv" title={t.run.levels[line.level]} />
      <span className="m">
        {spans.map((span, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line's spans do not move
          <Look key={i} span={span} needle={needle} current={current} />
        ))}
        {cut && (
          <button type="button" className="whole" onClick={() => onWhole(line)}>
            {t.run.truncated(line.text.length - drawn)}
          </button>
        )}
      </span>
    </div>
  );
});

function Look({ span, needle, current }: { span: Span; needle: string; current: boolean }) {
  const body = needle === "" ? linked(span.text) : found(span.text, needle, current);
  return span.look === "" ? body : <span className={span.look}>{body}</span>;
}

const urls = /https?:\/\/[^\s"'<>)\]]+/g;

/** A text with its http and https addresses as links. Nothing else in a log is more than text. */
function linked(text: string): ReactNode {
  if (!text.includes("://")) return text;
  const out: ReactNode[] = [];
  let at = 0;
  for (const match of text.matchAll(urls)) {
    out.push(text.slice(at, match.index));
    out.push(
      <a key={match.index} href={match[0]} target="_blank" rel="noopener noreferrer" tabIndex={-1}>
        {match[0]}
      </a>,
    );
    at = match.index + match[0].length;
  }
  out.push(text.slice(at));
  return out;
}

function found(text: string, needle: string, current: boolean): ReactNode {
  const lower = text.toLowerCase();
  const out: ReactNode[] = [];
  let at = 0;
  for (let i = lower.indexOf(needle); i >= 0; i = lower.indexOf(needle, i + needle.length)) {
    out.push(text.slice(at, i));
    out.push(
      <mark key={i} className={current ? "cur" : undefined}>
        {text.slice(i, i + needle.length)}
      </mark>,
    );
    at = i + needle.length;
  }
  out.push(text.slice(at));
  return out;
}
