/** What one does with a fire that is ahead. */
export const fire = {
  menu: (time: string) => `What to do with the fire of ${time}`,
  what: "What to do",
  reason: "Why (for the record)",
  back: "Run it after all",
  ranEarly: "ran early",
  skip: {
    item: "Skip this fire…",
    verb: "Skip it",
    ask: (job: string, time: string) => `Skip the fire of ${job} at ${time}?`,
    hint: "This fire is recorded as skipped when it comes, with who skipped it and why. Other fires stay. You can undo the skip until then.",
    done: (job: string) => `One fire of ${job} is skipped`,
  },
  early: {
    item: "Run it now instead…",
    verb: "Run it now",
    ask: (job: string, time: string) => `Run ${job} now, instead of at ${time}?`,
    hint: "A run starts now, and the fire is recorded as skipped when it comes, so that it does not run twice.",
    done: (job: string) => `Run of ${job} started, instead of a fire`,
  },
};

/** Where one can do something about it that a job does not run. */
export const remedy = {
  runs: "Show the job's live runs",
  everything: "Go to the cluster",
  run: "Show the last failed run",
  waits: (since: string) => `A run has waited since ${since}:`,
  waitsQuietly: "an executor has not taken it yet",
  warned: "Its runs would not start:",
};
