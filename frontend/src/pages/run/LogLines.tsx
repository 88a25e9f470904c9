import type { LogLine } from "@/api/schema.gen";
import { usePageWords } from "@/lib/format";
import { isExtra, type Row } from "@/lib/logrows";
import { ExtraRow, LogRow } from "./LogRow";
import { row } from "./useLogViewport";

interface LogLinesProps {
  rows: Row[];
  /** Which of the rows are drawn. */
  from: number;
  to: number;
  timeOf(line: LogLine): string;
  pattern: RegExp | undefined;
  /** The line that was found. */
  current: number | undefined;
  /** The lines that the address names. */
  link: [number, number] | undefined;
  open: ReadonlySet<number>;
  onLink(seq: number, range: boolean): void;
  onWhole(line: LogLine): void;
  onOpen(seq: number): void;
}

/** The rows of a log that are on the screen, in a box as high as all of them. */
export function LogLines({ rows, from, to, timeOf, pattern, current, link, open, ...on }: LogLinesProps) {
  const { t } = usePageWords();
  const { onLink, onWhole, onOpen } = on;
  return (
    <div style={{ height: rows.length * row }} className="lines">
      <div style={{ transform: `translateY(${from * row}px)` }}>
        {rows.slice(from, to).map((r, i) => {
          if (isExtra(r) && r.kind !== "part")
            return (
              <ExtraRow
                // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a document do not move
                key={`${r.seq}.${r.kind}.${i}`}
                level={r.line.level}
                {...(r.kind === "fold" && { onOpen: () => onOpen(r.seq) })}
              >
                {r.kind === "fold" ? t.run.folded(r.folded) : r.text}
              </ExtraRow>
            );
          const [line, part] = isExtra(r) ? [r.line, r] : [r, undefined];
          return (
            <LogRow
              key={`${line.seq}.${part?.from ?? 0}`}
              line={line}
              time={timeOf(line)}
              find={pattern}
              current={line.seq === current}
              linked={link !== undefined && line.seq >= link[0] && line.seq <= link[1]}
              {...(part && { from: part.from, to: part.to })}
              open={open.has(line.seq)}
              onLink={onLink}
              onWhole={onWhole}
              onOpen={onOpen}
            />
          );
        })}
      </div>
    </div>
  );
}
