import { Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useT } from "@/i18n";

interface FilterFieldProps {
  value: string;
  placeholder: string;
  onChange(value: string): void;
}

/** The text of a list's filter. It is taken over a moment after the last key, and not while an input method composes. */
export function FilterField({ value, placeholder, onChange }: FilterFieldProps) {
  const t = useT();
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const composing = useRef(false);
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
    if (!composing.current) timer.current = setTimeout(() => send(next), 120);
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
