/** Long lines as several that fit into a message. */

import { cut, MAX_LOG_TEXT } from "./wire";

export const MARK = "…";
const MOST = MAX_LOG_TEXT - 2 * Buffer.byteLength(MARK);

/** A line in pieces, of which all but the last end, and all but the first begin, with …. */
export function pieces(line: string): string[] {
  if (Buffer.byteLength(line) <= MAX_LOG_TEXT) {
    return [line];
  }
  const parts: string[] = [];
  for (let rest = line; rest !== ""; ) {
    // A character takes at most three bytes for each of its UTF-16 units, so this is enough of it.
    const part = cut(rest.slice(0, MOST + 1), MOST);
    parts.push(part);
    rest = rest.slice(part.length);
  }
  const last = parts.length - 1;
  return parts.map((part, i) => `${i > 0 ? MARK : ""}${part}${i < last ? MARK : ""}`);
}
