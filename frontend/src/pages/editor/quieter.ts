/** From so many other fires in the same minute on, another minute is looked for. */
const crowd = 3;

/**
 * The minute of an hour with the fewest fires, a round one and a near one if several have as few;
 * undefined unless the minute in question has many others and the found one at most half as many.
 * own is how many of the fires in the minute in question are those of the job itself.
 */
export function quieterMinute(
  counts: readonly number[],
  minute: number,
  own: number,
): { minute: number; here: number; there: number } | undefined {
  const here = (counts[minute] ?? 0) - own;
  if (here < crowd) return undefined;
  const far = (i: number) => Math.abs(i - minute);
  const [best] = counts
    .map((n, i) => ({ minute: i, here, there: n }))
    .filter((m) => m.minute !== minute)
    .sort(
      (a, b) =>
        a.there - b.there ||
        Number(a.minute % 5 > 0) - Number(b.minute % 5 > 0) ||
        far(a.minute) - far(b.minute),
    );
  return best && best.there * 2 <= here ? best : undefined;
}
