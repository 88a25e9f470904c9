/** The first letters of up to two parts of a name, for the mark beside it: LW of lin.wei or Lin Wei. */
export function lettersOf(name: string): string {
  return name
    .split(/[\s._@-]+/)
    .filter((part) => part !== "")
    .slice(0, 2)
    .map((part) => [...part][0])
    .join("")
    .toUpperCase();
}
