const units = ["B", "kB", "MB", "GB", "TB", "PB"];

/** Writes a size in the largest unit of a thousand that leaves it at least 1: 512 B, 4.2 GB. */
export function formatBytes(bytes: number): string {
  let n = bytes;
  let unit = 0;
  while (n >= 999.5 && unit < units.length - 1) {
    n /= 1000;
    unit++;
  }
  return `${unit > 0 && n < 9.95 ? n.toFixed(1) : Math.round(n)} ${units[unit]}`;
}
