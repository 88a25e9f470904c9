import { count } from "./words";

/** Secrets of an executor group. */
export const secrets = {
  title: "Secrets",
  create: "New secret…",
  createIn: (group: string) => `New secret of ${group}`,
  replace: (name: string) => `Replace ${name}`,
  hint: "The server encrypts the value for the group's executors. Nobody can read it back.",
  name: "Name",
  value: "Value",
  description: "What it is for",
  save: "Save secret",
  none: "No secrets",
  noneHint: "Tasks get secrets as variables. Only executors of the group can decrypt them.",
  note: "passed to tasks as variables; nobody can read them back",
  usedBy: "Jobs that use it",
  unused: "none",
  more: (n: number) => `and ${n} more`,
  remove: (name: string) => `Delete the secret ${name}?`,
  removeHint: (jobs: number) =>
    jobs === 0
      ? "No job uses it."
      : `${count(jobs, "job uses", "jobs use")} it. Their runs will fail from now on.`,
  updated: "Changed",
  by: "By",
};
