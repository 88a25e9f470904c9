/** How far the server's clock is ahead of this machine's, in ms; 0 while they agree within what can be told. */
let ahead = 0;

/** The Date header counts whole seconds, so less than this is no difference. */
const tolerance = 2000;

/**
 * Takes in the Date header of an answer to a request of that instant. The server wrote it at some
 * time between the two: what the way there and back took may be the whole difference.
 */
export function noteServerDate(header: string | null, sentAt: number): void {
  const server = header ? Date.parse(header) : Number.NaN;
  if (Number.isNaN(server)) return;
  const now = Date.now();
  const half = Math.max(0, now - sentAt) / 2;
  const difference = server + 500 - (now - half);
  ahead = Math.abs(difference) > tolerance + half ? difference : 0;
}

/** The server's time, in ms. Countdowns and ages use it, since a browser may be hours off. */
export function serverNow(): number {
  return Date.now() + ahead;
}

/** By how much the two clocks differ, in ms; 0 when it is less than two seconds. */
export function clockSkew(): number {
  return ahead;
}
