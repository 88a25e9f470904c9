import type { Layout, Place } from "./layout";

/** What of a picture a window shows: a point p of the picture is at p·k + (x, y). */
export interface View {
  x: number;
  y: number;
  k: number;
}

export interface Size {
  width: number;
  height: number;
}

const least = 0.02;
const largest = 2;
const margin = 24;
/** Smaller than this, names cannot be read. */
export const readable = 0.5;

/** All of it, never larger than it is. */
export function whole(layout: Size, window: Size): View {
  const k = Math.min(
    1,
    (window.width - 2 * margin) / Math.max(1, layout.width),
    (window.height - 2 * margin) / Math.max(1, layout.height),
  );
  const scale = Math.max(least, k);
  return {
    k: scale,
    x: (window.width - layout.width * scale) / 2,
    y: (window.height - layout.height * scale) / 2,
  };
}

/** The same point stays where it is. */
export function zoom(view: View, by: number, [px, py]: readonly [number, number]): View {
  const k = Math.min(largest, Math.max(least, view.k * by));
  const f = k / view.k;
  return { k, x: px - (px - view.x) * f, y: py - (py - view.y) * f };
}

/** Moves as little as shows a place whole, or its beginning if it is larger than the window. */
export function reveal(view: View, at: Place, window: Size): View {
  const shift = (start: number, length: number, room: number) => {
    if (start < margin) return margin - start;
    const over = start + length + margin - room;
    return over > 0 ? -Math.min(over, start - margin) : 0;
  };
  return {
    k: view.k,
    x: view.x + shift(at.x * view.k + view.x, at.width * view.k, window.width),
    y: view.y + shift(at.y * view.k + view.y, at.height * view.k, window.height),
  };
}

/** A place in the middle, at a size at which it can be read. */
export function centre(at: Place, k: number, window: Size): View {
  return {
    k,
    x: window.width / 2 - (at.x + at.width / 2) * k,
    y: window.height / 2 - (at.y + at.height / 2) * k,
  };
}

/** How a picture is seen first: all of it if it can be read so, else what is to be looked at. */
export function firstView(layout: Layout, window: Size, look: Place | undefined): View {
  const all = whole(layout, window);
  if (all.k >= readable || !look) return all;
  const view = centre(look, 0.8, window);
  // Nothing is gained by a margin beyond the picture.
  const within = (at: number, length: number, room: number) =>
    length * view.k + 2 * margin <= room
      ? (room - length * view.k) / 2
      : Math.min(margin, Math.max(at, room - length * view.k - margin));
  return {
    k: view.k,
    x: within(view.x, layout.width, window.width),
    y: within(view.y, layout.height, window.height),
  };
}

/** The part of the picture that a window shows and a bit around it, in coarse steps, so that it seldom changes. */
export function shownPart(view: View, window: Size): Place {
  const grid = 120 / view.k;
  const from = (at: number) => Math.floor(-at / view.k / grid) * grid - grid / 2;
  const span = (room: number) => (Math.ceil(room / view.k / grid) + 2) * grid;
  return { x: from(view.x), y: from(view.y), width: span(window.width), height: span(window.height) };
}

export const meets = (a: Place, b: Place): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
