import { ChevronDown, ChevronUp, Search } from "lucide-react";
import type { Ref } from "react";
import { usePageT } from "@/i18n";
import { useSayer } from "@/lib/reason";

interface FindProps {
  ref: Ref<HTMLInputElement>;
  needle: string;
  regex: boolean;
  /** What is looked for is no expression. */
  wrong: boolean;
  /** Which of the lines found is shown, or -1. */
  at: number;
  found: number;
  /** They are still looked for. */
  busy: boolean;
  /** Why they could not be looked for. */
  error: unknown;
  onNeedle(needle: string): void;
  onRegex(regex: boolean): void;
  onStep(step: number): void;
}

/** Looks for a text in a log, or for an expression, and goes from one line that has it to the next. */
export function Find({
  ref,
  needle,
  regex,
  wrong,
  at,
  found,
  busy,
  error,
  onNeedle,
  onRegex,
  onStep,
}: FindProps) {
  const t = usePageT();
  const { sayError } = useSayer();
  return (
    <div className={wrong ? "inp sm find-log bad" : "inp sm find-log"}>
      <Search size={14} aria-hidden />
      <input
        ref={ref}
        value={needle}
        placeholder={t.run.find}
        aria-label={t.run.find}
        aria-invalid={wrong || undefined}
        onChange={(e) => onNeedle(e.target.value)}
        onKeyDown={(e) => {
          if (e.key === "Enter" && !e.nativeEvent.isComposing) onStep(e.shiftKey ? -1 : 1);
          if (e.key === "Escape") {
            onNeedle("");
            e.currentTarget.blur();
          }
        }}
      />
      {needle !== "" && (
        <>
          <span className="mut num nowrap" title={error ? sayError(error) : undefined}>
            {wrong
              ? t.run.noRegex
              : busy
                ? "…"
                : error
                  ? t.run.notSearched
                  : found === 0
                    ? t.run.noMatches
                    : at < 0
                      ? t.run.found(found)
                      : t.run.matches(at + 1, found)}
          </span>
          <button type="button" className="clear" aria-label={t.run.previous} onClick={() => onStep(-1)}>
            <ChevronUp size={14} aria-hidden />
          </button>
          <button type="button" className="clear" aria-label={t.run.next} onClick={() => onStep(1)}>
            <ChevronDown size={14} aria-hidden />
          </button>
        </>
      )}
      <button
        type="button"
        className={regex ? "clear rx on" : "clear rx"}
        aria-pressed={regex}
        aria-label={t.run.regex}
        title={t.run.regex}
        onClick={() => onRegex(!regex)}
      >
        .*
      </button>
    </div>
  );
}
