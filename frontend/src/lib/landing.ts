/** The pages that the console can begin with. */
export const landings = ["overview", "jobs"] as const;
export type Landing = (typeof landings)[number];

/**
 * The address to show in the place of the one at which the console was opened; undefined for
 * that one. Only its bare address leads on: one with parameters is a view of the overview. So
 * is one that is loaded again or gone back to, which somebody had been looking at.
 */
export function landingOf(
  at: string,
  base: string,
  chosen: Landing,
  arrival: NavigationTimingType | undefined,
): string | undefined {
  const bare = (url: string) => url.replace(/\/?#?$/, "");
  const isOpened = arrival === "navigate" && bare(at) === bare(base);
  return isOpened && chosen === "jobs" ? new URL("jobs", `${bare(base)}/`).href : undefined;
}
