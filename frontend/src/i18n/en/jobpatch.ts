import { count } from "./words";

/** A change of fields of many jobs. */
export const jobPatch = {
  act: "Change fields",
  title: (n: number) => `Change fields of ${count(n, "job", "jobs")}`,
  hint: "Tick what to change. An empty value removes the field; all other fields stay as they are.",
  fields: "Fields",
  yaml: "As YAML",
  yamlHint: "Objects are merged, lists are replaced, and null removes a field.",
  notObject: "Write fields and their values, such as timeout: 10m",
  names: {
    "overlap.policy": "If a run is still in progress",
    "retry.limit": "Maximum retries",
    "retry.delay": "Delay before retries",
  },
  value: (name: string) => `New value of ${name}`,
  removed: "removed",
  preview: "Preview changes",
  back: "Back",
  would: (changed: number, refused: number, same: number) =>
    [
      `${count(changed, "job", "jobs")} will change`,
      refused > 0 && `${refused} refused`,
      same > 0 && `${same} already so`,
    ]
      .filter(Boolean)
      .join(", "),
  list: "What changes in each job",
  version: (n: number) => `version ${n}`,
  save: (n: number) => `Save ${count(n, "job", "jobs")}`,
  saved: (n: number) => `${count(n, "job", "jobs")} changed`,
  savedBut: (n: number, refused: number) => `${count(n, "job", "jobs")} changed, ${refused} refused`,
  undo: "Undo",
  undoTitle: "Undo the change of many jobs",
  undoHint: "Each job gets back its version before the change, unless it has a newer version by now.",
};
