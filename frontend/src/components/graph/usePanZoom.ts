import { type PointerEvent, type RefObject, useEffect, useRef, useState } from "react";
import { type Size, type View, zoom } from "@/lib/graph/view";

interface Options {
  view: View;
  onView(change: (view: View) => View): void;
}

/** How far a pointer may move and still click. */
const still = 4;

/** Moves a picture with the pointer or the wheel, and zooms it with the wheel and Ctrl, or two fingers. */
export function usePanZoom(ref: RefObject<HTMLElement | null>, { view, onView }: Options) {
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const moved = useRef(0);
  const latest = useRef(onView);
  useEffect(() => {
    latest.current = onView;
  });
  const [panning, setPanning] = useState(false);
  // React's own listener is passive, which keeps the page from scrolling no more than Ctrl from zooming it.
  useEffect(() => {
    const el = ref.current;
    if (!el) return;
    const onWheel = (e: WheelEvent) => {
      e.preventDefault();
      const box = el.getBoundingClientRect();
      const at = [e.clientX - box.left, e.clientY - box.top] as const;
      if (e.ctrlKey || e.metaKey) latest.current((v) => zoom(v, Math.exp(-e.deltaY / 200), at));
      else {
        const [dx, dy] = e.shiftKey && e.deltaX === 0 ? [e.deltaY, 0] : [e.deltaX, e.deltaY];
        latest.current((v) => ({ ...v, x: v.x - dx, y: v.y - dy }));
      }
    };
    el.addEventListener("wheel", onWheel, { passive: false });
    return () => el.removeEventListener("wheel", onWheel);
  }, [ref]);

  const onPointerDown = (e: PointerEvent) => {
    if (e.button !== 0) return;
    pointers.current.set(e.pointerId, { x: e.clientX, y: e.clientY });
    if (pointers.current.size === 1) moved.current = 0;
  };
  const onPointerMove = (e: PointerEvent) => {
    const was = pointers.current.get(e.pointerId);
    const el = ref.current;
    if (!was || !el) return;
    const now = { x: e.clientX, y: e.clientY };
    const dx = now.x - was.x;
    const dy = now.y - was.y;
    moved.current += Math.hypot(dx, dy);
    pointers.current.set(e.pointerId, now);
    if (moved.current > still && !panning) {
      setPanning(true);
      el.setPointerCapture(e.pointerId); // not before: it would take the click from a box
    }
    const other = [...pointers.current].find(([id]) => id !== e.pointerId)?.[1];
    if (!other) return onView((v) => ({ ...v, x: v.x + dx, y: v.y + dy }));
    const apart = (p: { x: number; y: number }) => Math.max(1, Math.hypot(p.x - other.x, p.y - other.y));
    const box = el.getBoundingClientRect();
    onView((v) =>
      zoom(v, apart(now) / apart(was), [(now.x + other.x) / 2 - box.left, (now.y + other.y) / 2 - box.top]),
    );
  };
  const onPointerEnd = (e: PointerEvent) => {
    pointers.current.delete(e.pointerId);
    if (pointers.current.size === 0) setPanning(false);
  };
  return {
    panning,
    /** Whether the pointer has moved the picture since it was pressed: that was no click. */
    hasMoved: () => moved.current > still,
    handlers: {
      onPointerDown,
      onPointerMove,
      onPointerUp: onPointerEnd,
      onPointerCancel: onPointerEnd,
      onLostPointerCapture: onPointerEnd,
    },
    style: { transform: `translate(${view.x}px, ${view.y}px) scale(${view.k})` },
  };
}

/** The size of an element, in CSS pixels; undefined before it is known. */
export function useExtent(ref: RefObject<HTMLElement | null>): Size | undefined {
  const [size, setSize] = useState<Size>();
  useEffect(() => {
    const el = ref.current;
    if (!el) return;
    const observer = new ResizeObserver(() =>
      setSize((was) =>
        was?.width === el.clientWidth && was.height === el.clientHeight
          ? was
          : { width: el.clientWidth, height: el.clientHeight },
      ),
    );
    observer.observe(el);
    return () => observer.disconnect();
  }, [ref]);
  return size;
}
