import { useEffect, useRef } from "react";
import { getPrefs } from "@/lib/prefs";

type Handler = (event: KeyboardEvent) => void;

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    target.closest(".cm-host") !== null);

const mac = /Mac|iPhone|iPad/.test(navigator.platform);
export const modifier = mac ? "⌘" : "Ctrl ";

/** The name of a key press: "mod+k", "g j" is two of them, "?" is as it is typed. */
function nameOf(e: KeyboardEvent): string {
  const key = e.key.length === 1 ? e.key : e.key.toLowerCase();
  if (e.metaKey || e.ctrlKey) return `mod+${key.toLowerCase()}`;
  return e.altKey ? `alt+${key}` : key;
}

/** Who binds keys now. The last is asked first: what a page does comes before what the shell does. */
const layers: { current: Record<string, Handler> }[] = [];
let first = "";
let timer: ReturnType<typeof setTimeout> | undefined;

function onKey(e: KeyboardEvent): void {
  if (e.isComposing || e.defaultPrevented) return;
  const name = nameOf(e);
  const single = !name.startsWith("mod+");
  if (
    single &&
    (isField(e.target) || !getPrefs().letters || document.querySelector("[role=dialog],[role=menu]"))
  )
    return;
  const wanted = first ? `${first} ${name}` : name;
  const handler = layers.map((l) => l.current[wanted]).findLast((found) => found !== undefined);
  clearTimeout(timer);
  first = "";
  if (handler) {
    e.preventDefault();
    handler(e);
  } else if (layers.some((l) => Object.keys(l.current).some((k) => k.startsWith(`${name} `)))) {
    first = name;
    timer = setTimeout(() => {
      first = "";
    }, 1200);
  }
}

/**
 * Binds keys while the component is there. Of two that bind the same key, that which came
 * later has it. Single letters do nothing in fields, in dialogs, while an input method
 * composes, or when they are switched off; "mod+" keys always work.
 */
export function useKeys(bindings: Record<string, Handler>): void {
  const latest = useRef(bindings);
  useEffect(() => {
    latest.current = bindings;
  });
  useEffect(() => {
    if (layers.length === 0) window.addEventListener("keydown", onKey);
    layers.push(latest);
    return () => {
      layers.splice(layers.indexOf(latest), 1);
      if (layers.length === 0) window.removeEventListener("keydown", onKey);
    };
  }, []);
}
