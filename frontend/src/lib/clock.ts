/** How far the server's clock is ahead of this machine's, in ms; 0 while they agree within what can be told. */
let ahead = 0;

/** The Date header counts whole seconds and has travelled, so less than this is no difference. */
const tolerance = 2000;

export function noteServerDate(header: string | null): void {
  const server = header ? Date.parse(header) : Number.NaN;
  if (Number.isNaN(server)) return;
  const difference = server + 500 - Date.now();
  ahead = Math.abs(difference) > tolerance ? difference : 0;
}

/** The server's time, in ms. Countdowns and ages use it, since a browser may be hours off. */
export function serverNow(): number {
  return Date.now() + ahead;
}

/** By how much the two clocks differ, in ms; 0 when it is less than two seconds. */
export function clockSkew(): number {
  return ahead;
}
