import { ChevronRight } from "lucide-react";
import { memo, type ReactNode } from "react";
import type { LogLine } from "@/api/schema.gen";
import { usePageT } from "@/i18n";
import { parseAnsi, type Span } from "@/lib/ansi";
import { drawn, mayBeJson } from "@/lib/logrows";
import "@/styles/log.css";

interface LogRowProps {
  line: LogLine;
  time: string;
  /** What is looked for. */
  find?: RegExp | undefined;
  /** It has the match that is shown now. */
  current?: boolean;
  linked?: boolean;
  /** Of a line that is wrapped: which characters of it the row has. */
  from?: number;
  to?: number;
  /** Whether its JSON is shown below it. */
  open?: boolean;
  onLink(seq: number, range: boolean): void;
  onWhole(line: LogLine): void;
  /** Absent where JSON is not shown. */
  onOpen?(seq: number): void;
}

const levels: Record<string, string> = { warn: " w", error: " e", debug: " d" };

export const LogRow = memo(function LogRow({
  line,
  time,
  find,
  current = false,
  linked = false,
  from = 0,
  to,
  open = false,
  onLink,
  onWhole,
  onOpen,
}: LogRowProps) {
  const t = usePageT();
  const cut = line.text.length > drawn;
  const all = parseAnsi(cut ? line.text.slice(0, drawn) : line.text);
  const spans = from > 0 || to !== undefined ? partOf(all, from, to ?? drawn) : all;
  const last = to === undefined || (from === to && from > 0);
  // The system's own lines and what goes to stderr are told by more than colour.
  const kind = line.output === "system" ? " sys" : "";
  return (
    <div className={`ll${levels[line.level] ?? ""}${kind}${linked ? " linked" : ""}`} data-seq={line.seq}>
      {from > 0 ? (
        <>
          <span />
          <span />
        </>
      ) : (
        <>
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
        </>
      )}
      <span className="lv" title={t.run.levels[line.level]} />
      <span className="m">
        {onOpen && from === 0 && mayBeJson(line.text) && (
          <button
            type="button"
            className={open ? "unfold on" : "unfold"}
            tabIndex={-1}
            aria-expanded={open}
            aria-label={`${t.run.asJson}: ${line.seq}`}
            onClick={() => onOpen(line.seq)}
          >
            <ChevronRight size={13} aria-hidden />
          </button>
        )}
        {spans.map((span, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line's spans do not move
          <Look key={i} span={span} find={find} current={current} />
        ))}
        {cut && last && (
          <button type="button" className="whole" onClick={() => onWhole(line)}>
            {t.run.truncated(line.text.length - drawn)}
          </button>
        )}
      </span>
    </div>
  );
});

/** Lines of a stack trace that are folded, or a line of a document: what is no line of the log itself. */
export function ExtraRow({
  level,
  children,
  onOpen,
}: {
  level: string;
  children: ReactNode;
  onOpen?: () => void;
}) {
  return (
    <div className={`ll extra${levels[level] ?? ""}`}>
      <span />
      <span />
      <span className="lv" />
      <span className="m">
        {onOpen ? (
          <button type="button" className="unfold words" aria-expanded={false} onClick={onOpen}>
            <ChevronRight size={13} aria-hidden />
            {children}
          </button>
        ) : (
          children
        )}
      </span>
    </div>
  );
}

/** Spans from one character on and before another. */
function partOf(spans: Span[], from: number, to: number): Span[] {
  const out: Span[] = [];
  let at = 0;
  for (const span of spans) {
    const text = span.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (text !== "") out.push({ ...span, text });
    at += span.text.length;
  }
  return out;
}

function Look({ span, find, current }: { span: Span; find: RegExp | undefined; current: boolean }) {
  const body = find ? found(span.text, find, current) : linked(span.text);
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

function found(text: string, find: RegExp, current: boolean): ReactNode {
  const out: ReactNode[] = [];
  let at = 0;
  for (const match of text.matchAll(find)) {
    if (match[0] === "") continue;
    out.push(text.slice(at, match.index));
    out.push(
      <mark key={match.index} className={current ? "cur" : undefined}>
        {match[0]}
      </mark>,
    );
    at = match.index + match[0].length;
  }
  out.push(text.slice(at));
  return out;
}
