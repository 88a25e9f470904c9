import { Search, X } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { useWords } from "@/lib/format";

/** How what is being written could go on, and how much there is of it. */
export interface Suggestion {
  value: string;
  label?: string;
  n?: number;
}

interface FilterFieldProps {
  value: string;
  placeholder: string;
  /** The list answers so fast that the first key after a rest is taken over at once. */
  eager?: boolean;
  onChange(value: string): void;
  /** Hears of every key, before the text is taken over. */
  onText?(text: string): void;
  /** What of a text the list is filtered by; the rest is not finished yet. */
  reads?(text: string): string;
  /** What becomes of a text: it may have something in it that is more than text. */
  rewrite?(text: string, isFinished: boolean): string;
  suggestions?: Suggestion[];
  /** Takes a suggestion, and returns what becomes of the text. */
  onPick?(value: string, text: string): string;
}

/** Keys that follow each other faster than this are taken over together. */
const pause = 120;
const longPause = 500;

/** The text of a list's filter. It is taken over a moment after the last key, and not while an input method composes. */
export function FilterField({
  value,
  placeholder,
  eager,
  onChange,
  onText,
  reads = (text) => text,
  rewrite = (text) => text,
  suggestions = [],
  onPick,
}: FilterFieldProps) {
  const { t, f } = useWords();
  const [text, setText] = useState(value);
  const [marked, setMarked] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const listId = useId();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const composing = useRef(false);
  const pressed = useRef(Number.NEGATIVE_INFINITY);
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) {
      sent.current = value;
      setText(value); // by Back, or by a link
    }
  }, [value]);
  const send = (next: string) => {
    sent.current = reads(next);
    onChange(sent.current);
  };
  const change = (typed: string, isFinished = false) => {
    const next = composing.current ? typed : rewrite(typed, isFinished);
    setText(next);
    setMarked(0);
    onText?.(next);
    clearTimeout(timer.current);
    if (composing.current) return;
    const rested = performance.now() - pressed.current > longPause;
    pressed.current = performance.now();
    if (eager && rested) send(next);
    else timer.current = setTimeout(() => send(next), pause);
  };
  const offered = isOpen ? suggestions : [];
  const at = Math.min(marked, offered.length - 1);
  const pick = (s: Suggestion | undefined) => {
    if (!s || !onPick) return;
    const next = onPick(s.value, text);
    setText(next);
    setMarked(0);
    onText?.(next);
    clearTimeout(timer.current);
    send(next);
  };
  const onKey = (e: KeyboardEvent<HTMLInputElement>) => {
    if (e.nativeEvent.isComposing) return;
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && offered.length > 0) {
      e.preventDefault();
      setMarked((at + step + offered.length) % offered.length);
    } else if (e.key === "Enter") {
      if (offered.length > 0) pick(offered[at]);
      else change(text, true);
    } else if (e.key === "Escape") {
      if (offered.length > 0) setOpen(false);
      else e.currentTarget.blur();
    }
  };
  return (
    <div className="inp">
      <Search size={15} aria-hidden />
      <input
        data-filter
        value={text}
        placeholder={placeholder}
        aria-label={placeholder}
        {...(onPick && {
          role: "combobox",
          "aria-expanded": offered.length > 0,
          "aria-controls": listId,
          "aria-activedescendant": offered.length > 0 ? `${listId}-${at}` : undefined,
          "aria-autocomplete": "list",
        })}
        autoComplete="off"
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onChange={(e) => {
          setOpen(true);
          change(e.target.value);
        }}
        onCompositionStart={() => {
          composing.current = true;
        }}
        onCompositionEnd={(e) => {
          composing.current = false;
          change(e.currentTarget.value);
        }}
        onKeyDown={onKey}
      />
      {text === "" ? (
        <kbd className="kbd">/</kbd>
      ) : (
        <button type="button" className="clear" aria-label={t.act.clear} onClick={() => change("")}>
          <X size={14} aria-hidden />
        </button>
      )}
      {onPick && (
        <div
          className="menu suggest"
          id={listId}
          role="listbox"
          aria-label={placeholder}
          hidden={offered.length === 0}
        >
          {offered.map((s, i) => (
            <div
              key={s.value}
              id={`${listId}-${i}`}
              role="option"
              aria-selected={i === at}
              className="mi"
              data-highlighted={i === at || undefined}
              // The field keeps the focus.
              onMouseDown={(e) => e.preventDefault()}
              onClick={() => pick(s)}
              onMouseMove={() => setMarked(i)}
            >
              <span className="grow trunc">{s.label ?? s.value}</span>
              {s.n !== undefined && <span className="mut num">{f.number(s.n)}</span>}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
