/** How long a pause lasts. */
export const pause = {
  until: "Until",
  ends: {
    never: "somebody resumes it",
    "1h": "in 1 hour",
    "4h": "in 4 hours",
    tomorrow: "tomorrow 09:00",
    at: "an instant…",
  },
  at: (zone: string) => `Instant (${zone})`,
  ahead: "An instant that is still ahead",
  resumes: (time: string) => `It resumes by itself at ${time}; the fire at that instant runs.`,
  none: "None of the next fires falls into the pause.",
  pausedUntil: (time: string) => `Paused until ${time}`,
  banner: (time: string) =>
    `This job is paused until ${time}. Fires before that are recorded as skipped; then it resumes by itself.`,
  heldUntil: (time: string) => `until ${time}`,
  wouldSkip: "would be skipped",
  wouldSkipHint: "Everything is paused. This fire would be recorded as skipped.",
};
