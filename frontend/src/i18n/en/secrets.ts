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
  remove: (name: string) => `Delete the secret ${name}?`,
  removeHint: "Runs that ask for it fail from now on.",
  updated: "Changed",
  by: "By",
};
