/** What one does with a fire that is ahead. */
export const fire = {
  menu: (time: string) => `Actions for the fire at ${time}`,
  what: "Action",
  reason: "Reason (recorded)",
  back: "Undo the skip",
  ranEarly: "ran early",
  skip: {
    item: "Skip this fire…",
    verb: "Skip it",
    ask: (job: string, time: string) => `Skip the fire of ${job} at ${time}?`,
    hint: "When this fire is due, it is recorded as skipped, with your name and the reason. Other fires do not change. You can undo the skip until then.",
    done: (job: string) => `One fire of ${job} will be skipped`,
  },
  early: {
    item: "Run it now instead…",
    verb: "Run it now",
    ask: (job: string, time: string) => `Run ${job} now, instead of at ${time}?`,
    hint: "A run starts now. When the fire is due, it is recorded as skipped, so that it does not run twice.",
    done: (job: string) => `Run of ${job} started, instead of a fire`,
  },
};

/** Where one can do something about it that a job does not run. */
export const remedy = {
  runs: "Show the job's runs in progress",
  everything: "Open the cluster page",
  run: "Show the last failed run",
  waits: (since: string) => `A run has waited since ${since}:`,
  waitsQuietly: "no executor has taken it yet",
  warned: "Its runs would not start:",
};
