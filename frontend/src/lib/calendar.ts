/** Dates as they are typed: one a line, or with commas or spaces between. */
export const datesOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** All dates of two lists, those of every year first. */
export function joinDates(a: readonly string[], b: readonly string[]): string[] {
  const all = [...new Set([...a, ...b])];
  return all.sort((x, y) => x.length - y.length || (x < y ? -1 : 1));
}
