import { CircleCheck, CircleX, X } from "lucide-react";
import { useT } from "@/i18n";
import { createStore } from "@/lib/store";
import { IconButton } from "./Button";

export interface Toast {
  text: string;
  bad?: boolean;
  detail?: string;
  action?: { label: string; run(): void };
}

/** How long good news stays, in ms: to be read, and with something to press to be reached by keys as well. */
const [glance, reach] = [8000, 15_000];

const toasts = createStore<(Toast & { id: number })[]>([]);
let lastId = 0;

/** Says what became of something. Good news goes by itself after a while; bad news stays until it is dismissed. */
export function toast(next: Toast): void {
  const id = show(next);
  if (!next.bad) setTimeout(() => dismiss(id), next.action ? reach : glance);
}

/** How long something can be called off that one click has started, in ms. */
export const grace = 5000;

/** Says what will happen, and does it in a moment, unless somebody calls it off. A double click says it once. */
export function toastBefore(text: string, undo: string, act: () => void): void {
  if (toasts.get().some((x) => x.text === text)) return;
  const timer = setTimeout(() => {
    dismiss(id);
    act();
  }, grace);
  const id = show({ text, action: { label: undo, run: () => clearTimeout(timer) } });
}

function show(next: Toast): number {
  const id = ++lastId;
  toasts.set([...toasts.get(), { ...next, id }].slice(-3));
  return id;
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((x) => x.id !== id));
}

export function Toasts() {
  const t = useT();
  const shown = toasts.use();
  return (
    <section className="toasts" aria-live="polite" aria-label={t.act.more}>
      {shown.map((x) => (
        <div key={x.id} className={`toast${x.bad ? " bad" : ""}`}>
          {x.bad ? <CircleX size={16} aria-hidden /> : <CircleCheck size={16} aria-hidden />}
          <div className="grow">
            <div>{x.text}</div>
            {x.detail && <div className="detail">{x.detail}</div>}
          </div>
          {x.action && (
            <button
              type="button"
              className="act"
              onClick={() => {
                x.action?.run();
                dismiss(x.id);
              }}
            >
              {x.action.label}
            </button>
          )}
          <IconButton icon={X} size={14} label={t.act.close} onClick={() => dismiss(x.id)} />
        </div>
      ))}
    </section>
  );
}
