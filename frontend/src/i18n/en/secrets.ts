import { count } from "./words";

/** Secrets of an executor group. */
export const secrets = {
  title: "Secrets",
  create: "New secret…",
  createIn: (group: string) => `New secret of ${group}`,
  replace: (name: string) => `Replace ${name}`,
  hint: "The server seals it for the group's executors and forgets it. Nobody can read it back.",
  name: "Name",
  value: "Value",
  description: "What it is for",
  save: "Save secret",
  none: "No secrets",
  noneHint: "Tasks get them as variables. Only executors of the group can open them.",
  note: "which tasks get as variables; nobody can read them back",
  usedBy: "Jobs that ask for it",
  unused: "none",
  more: (n: number) => `and ${n} more`,
  remove: (name: string) => `Delete the secret ${name}?`,
  removeHint: (jobs: number) =>
    jobs === 0
      ? "No job asks for it."
      : `${count(jobs, "job asks", "jobs ask")} for it. Their runs fail from now on.`,
  updated: "Changed",
  by: "By",
};
