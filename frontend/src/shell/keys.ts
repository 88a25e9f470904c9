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
  // Of a letter or a mark, Shift is part of what is typed.
  if (e.shiftKey && key.length > 1) return `shift+${key}`;
  return e.altKey ? `alt+${key}` : key;
}

/** What browsers do with a text while one writes it. */
const editing = new Set(["mod+a", "mod+c", "mod+v", "mod+x", "mod+z"]);

/** Who binds keys now. The last is asked first: what a page does comes before what the shell does. */
const layers: { current: Record<string, Handler> }[] = [];
let first = "";
let timer: ReturnType<typeof setTimeout> | undefined;

/** What has been typed for a field that is not there yet, and until when that is waited for. */
let early: { text: string; until: number } | undefined;

/**
 * Keeps the letters that are typed from now on for a field that is about to come, up to takeTyped and for ten
 * seconds at most. Else they would be taken for keys of the page, some of which do what cannot be undone.
 */
export function keepTyped(): void {
  early = { text: "", until: Date.now() + 10_000 };
}

/** Returns what keepTyped has kept, and ends it. */
export function takeTyped(): string {
  const text = early?.text ?? "";
  early = undefined;
  return text;
}

/** Whether a key was typed for a field that is about to come. */
function isEarly(e: KeyboardEvent, name: string): boolean {
  if (!early || Date.now() > early.until) return false;
  if (name === "backspace") early.text = early.text.slice(0, -1);
  else if (e.key.length === 1 && !e.ctrlKey && !e.metaKey) early.text += e.key;
  else return false;
  return true;
}

function onKey(e: KeyboardEvent): void {
  if (e.isComposing || e.defaultPrevented) return;
  const name = nameOf(e);
  if (isEarly(e, name)) {
    e.preventDefault();
    return;
  }
  if (editing.has(name) && isField(e.target)) return;
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
