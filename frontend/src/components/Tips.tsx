import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";

/** How long the pointer rests on something before it says what it is. */
const rest = 400;
/** So soon after one tooltip the next appears at once. */
const soon = 300;
/** The pointer may take so long from an element to its tooltip. */
const crossing = 120;
const away = 6;
const edge = 8;

/** The attributes that give an element a tooltip. What that says must be found elsewhere too, or be the element's name. */
export function tip(text: string, keys?: string) {
  return { "data-tip": text, "data-tip-keys": keys };
}

/**
 * Shows the tooltip of whatever is pointed at or focused. There is one for the whole page, so
 * that a table with a hundred buttons does not mount a hundred of them.
 */
export function Tips() {
  const [shown, setShown] = useState<HTMLElement>();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => follow(box, setShown), []);
  useLayoutEffect(() => {
    if (!shown || !box.current) return;
    const at = shown.getBoundingClientRect();
    const own = box.current.getBoundingClientRect();
    const above = at.top - own.height - away;
    const left = at.left + (at.width - own.width) / 2;
    box.current.style.top = `${above < edge ? at.bottom + away : above}px`;
    box.current.style.left = `${Math.max(edge, Math.min(left, window.innerWidth - own.width - edge))}px`;
  }, [shown]);
  const keys = shown?.dataset.tipKeys;
  return (
    shown &&
    createPortal(
      <div className="tt tip" role="tooltip" ref={box}>
        {shown.dataset.tip}
        {keys && <kbd className="kbd inv">{keys}</kbd>}
      </div>,
      document.body,
    )
  );
}

/** Tells of which element the tooltip is to be shown, until it is stopped by what it returns. */
function follow(box: { current: HTMLElement | null }, show: (of: HTMLElement | undefined) => void) {
  let current: HTMLElement | undefined;
  let left = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const turn = (to: HTMLElement | undefined) => {
    clearTimeout(timer);
    if (current && !to) left = performance.now();
    current = to;
    show(to);
  };
  const later = (ms: number, to: HTMLElement | undefined) => {
    clearTimeout(timer);
    timer = setTimeout(() => turn(to?.isConnected ? to : undefined), ms);
  };
  const owner = (target: EventTarget | null) =>
    target instanceof Element ? target.closest<HTMLElement>("[data-tip]") : null;

  const over = (e: PointerEvent) => {
    if (e.pointerType === "touch") return;
    const of = owner(e.target);
    if (of === current || (e.target instanceof Node && box.current?.contains(e.target))) clearTimeout(timer);
    else if (of) later(current || performance.now() - left < soon ? 0 : rest, of);
    else later(current ? crossing : 0, undefined);
  };
  const focus = (e: FocusEvent) => {
    const of = owner(e.target);
    // A click gives the focus too, but says by itself that one knows what the element is.
    if (of && of === e.target && of.matches(":focus-visible")) turn(of);
  };
  const dismiss = () => turn(undefined);
  const key = (e: KeyboardEvent) => {
    if (!current || !["Escape", "Enter", " "].includes(e.key)) return;
    dismiss();
    if (e.key === "Escape") e.stopPropagation(); // the topmost layer goes, and no more
  };
  const stop = new AbortController();
  const options = { capture: true, signal: stop.signal };
  window.addEventListener("pointerover", over, options);
  window.addEventListener("pointerdown", dismiss, options);
  window.addEventListener("focusin", focus, options);
  window.addEventListener("focusout", dismiss, options);
  window.addEventListener("keydown", key, options);
  window.addEventListener("scroll", dismiss, options);
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}
