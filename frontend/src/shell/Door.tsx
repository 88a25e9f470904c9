import { type ComponentProps, type ReactNode, useId } from "react";
import { useT } from "@/i18n";
import { useLang } from "@/lib/format";
import { setPrefs } from "@/lib/prefs";
import { Logo } from "./Logo";

/** The page before the console: a card in the middle. */
export function Door({
  title,
  hint,
  over,
  children,
}: {
  title: string;
  hint?: ReactNode;
  over?: boolean;
  children: ReactNode;
}) {
  const t = useT();
  const lang = useLang();
  return (
    <div
      className={over ? "door over" : "door"}
      {...(over ? { role: "dialog", "aria-modal": true, "aria-label": title } : {})}
    >
      <main className="doorcard">
        <p className="brand">
          <Logo /> {t.product}
        </p>
        <h1>{title}</h1>
        {hint && <div className="sec">{hint}</div>}
        {children}
      </main>
      <button
        type="button"
        className="chip"
        lang={lang === "en" ? "zh-CN" : "en"}
        onClick={() => setPrefs({ lang: lang === "en" ? "zh" : "en" })}
      >
        {lang === "en" ? "简体中文" : "English"}
      </button>
    </div>
  );
}

interface DoorFieldProps extends Omit<ComponentProps<"input">, "onChange"> {
  label: string;
  hint?: string;
  onChange(value: string): void;
}

/** A field that must be filled in before the door opens. */
export function DoorField({ label, hint, onChange, ...input }: DoorFieldProps) {
  const id = useId();
  return (
    <label className="f" htmlFor={id}>
      <span className="lab">{label}</span>
      <span className="inp">
        <input id={id} required {...input} onChange={(e) => onChange(e.target.value)} />
      </span>
      {hint && <span className="hint">{hint}</span>}
    </label>
  );
}
