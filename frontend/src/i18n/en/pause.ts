/** How long a pause lasts. */
export const pause = {
  until: "Until",
  ends: {
    never: "somebody resumes it",
    "1h": "in 1 hour",
    "4h": "in 4 hours",
    tomorrow: "tomorrow 09:00",
    at: "a date and time…",
  },
  at: (zone: string) => `Date and time (${zone})`,
  ahead: "Enter a date and time in the future",
  resumes: (time: string) => `It resumes automatically at ${time}; a fire at that time runs.`,
  none: "None of the next fires is within the pause.",
  pausedUntil: (time: string) => `Paused until ${time}`,
  banner: (time: string) =>
    `This job is paused until ${time}. Fires before that are recorded as skipped; then it resumes automatically.`,
  heldUntil: (time: string) => `until ${time}`,
  wouldSkip: "would be skipped",
  wouldSkipHint: "Everything is paused. This fire would be recorded as skipped.",
};
