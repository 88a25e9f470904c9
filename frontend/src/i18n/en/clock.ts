/** What happens where clocks are moved. */
export const clock = {
  title: "Clock changes",
  fire: {
    after_gap: (wall: string, at: string) => `${wall} does not exist that day; it fires at ${at}.`,
    first_pass: (wall: string) => `${wall} occurs twice that day; this is the first.`,
    second_pass: (wall: string) => `${wall} occurs twice that day; this is the second.`,
  } as Record<string, (wall: string, at: string) => string>,
  none: (zone: string) => `${zone} has no clock changes.`,
  elapsed: "An interval follows elapsed time: clock changes do not affect it.",
  forward: (day: string, from: string, to: string) => `On ${day} clocks go from ${from} forward to ${to}.`,
  back: (day: string, from: string, to: string) => `On ${day} clocks go from ${from} back to ${to}.`,
  gap: {
    fire: "A fire at a time that does not exist moves to the end of the gap.",
    skip: "A time that does not exist does not fire.",
  } as Record<string, string>,
  overlap: {
    first: "A time that occurs twice fires the first time.",
    last: "A time that occurs twice fires the second time.",
    both: "A time that occurs twice fires both times.",
  } as Record<string, string>,
};
