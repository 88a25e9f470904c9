import { Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useT } from "@/i18n";

interface FilterFieldProps {
  value: string;
  placeholder: string;
  /** The list answers so fast that the first key after a rest is taken over at once. */
  eager?: boolean;
  onChange(value: string): void;
}

/** Keys that follow each other faster than this are taken over together. */
const pause = 120;
const longPause = 500;

/** The text of a list's filter. It is taken over a moment after the last key, and not while an input method composes. */
export function FilterField({ value, placeholder, eager, onChange }: FilterFieldProps) {
  const t = useT();
  const [text, setText] = useState(value);
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
    sent.current = next;
    onChange(next);
  };
  const change = (next: string) => {
    setText(next);
    clearTimeout(timer.current);
    if (composing.current) return;
    const rested = performance.now() - pressed.current > longPause;
    pressed.current = performance.now();
    if (eager && rested) send(next);
    else timer.current = setTimeout(() => send(next), pause);
  };
  return (
    <div className="inp">
      <Search size={15} aria-hidden />
      <input
        data-filter
        value={text}
        placeholder={placeholder}
        aria-label={placeholder}
        onChange={(e) => change(e.target.value)}
        onCompositionStart={() => {
          composing.current = true;
        }}
        onCompositionEnd={(e) => {
          composing.current = false;
          change(e.currentTarget.value);
        }}
        onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
      />
      {text === "" ? (
        <kbd className="kbd">/</kbd>
      ) : (
        <button type="button" className="clear" aria-label={t.act.clear} onClick={() => change("")}>
          <X size={14} aria-hidden />
        </button>
      )}
    </div>
  );
}
