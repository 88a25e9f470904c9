import { type Ref, type RefObject, useEffect, useRef, useState } from "react";
import type { Ruler } from "@/lib/logrows";
import "@/styles/log.css";

/** So many letters are measured together, since the width of one is no whole number of pixels. */
const letters = 100;
/** The button before a line of JSON, as .unfold has it. */
const button = 13;

/** A row of a log that nobody sees: by it a log learns how wide its rows and letters are. */
export function Probe({ ref }: { ref: Ref<HTMLDivElement> }) {
  return (
    <div className="probe" aria-hidden ref={ref}>
      <span />
      <span />
      <span className="lv" />
      <span className="m">
        <span>{"0".repeat(letters)}</span>
      </span>
    </div>
  );
}

/**
 * The ruler by which the lines of a log are cut, and the ref of its probe. It is another as soon as the
 * rows or the letters are of another width, as they are when a font has come. Undefined before it is known.
 */
export function useRuler(): [RefObject<HTMLDivElement | null>, Ruler | undefined] {
  const probe = useRef<HTMLDivElement>(null);
  const [ruler, setRuler] = useState<Ruler>();
  useEffect(() => {
    const text = probe.current?.querySelector(".m");
    const run = text?.firstElementChild;
    if (!text || !run) return;
    const observer = new ResizeObserver(() => {
      const letter = run.getBoundingClientRect().width / letters;
      const room = text.getBoundingClientRect().width;
      if (letter > 0) setRuler(rulerOf(text, room, letter));
    });
    observer.observe(text);
    observer.observe(run);
    return () => observer.disconnect();
  }, []);
  return [probe, ruler];
}

function rulerOf(el: Element, room: number, letter: number): Ruler {
  const pen = document.createElement("canvas").getContext("2d");
  const style = getComputedStyle(el);
  if (pen) pen.font = style.font;
  const widths = new Map<string, number>();
  const widthOf = (c: string) => {
    if (c.length === 1 && c >= " " && c <= "~") return letter;
    let width = widths.get(c);
    if (width === undefined) {
      width = pen ? pen.measureText(c).width : 2 * letter;
      widths.set(c, width);
    }
    return width;
  };
  return { room, widthOf, tab: Number.parseFloat(style.tabSize) * letter, button };
}
