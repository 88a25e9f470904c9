/** The search over what all runs print. */
export const logs = {
  filter: 'Words, or "an exact phrase"…',
  level: "Level",
  found: (n: number, more: boolean) =>
    `${n.toLocaleString("en-GB")}${more ? "+" : ""} ${n === 1 && !more ? "line" : "lines"}`,
  none: "No line matches",
  noneHint: "Every word has to be in the line, in any order and case. Widen the range, or use fewer words.",
  onlyJob: "Only this job",
  end: "That is all of them",
};
