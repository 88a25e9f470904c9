/** Sets of filters that one keeps under a name, and which columns one wants. */
export const views = {
  columns: "Columns",
  columnsHint: "Kept in this browser and in the address, so your links show the same columns.",
  usual: "As usual",
  earlier: (column: string) => `Move ${column} forward`,
  later: (column: string) => `Move ${column} back`,
  title: "Views",
  save: "Save these filters…",
  nothing: "No filter is set",
  remove: (name: string) => `Forget ${name}`,
  name: "Name",
  saveTitle: "Save these filters",
  saveHint: "Under a name, for you in this browser. An existing name gets these filters.",
  saveVerb: "Save view",
  saved: (name: string) => `View ${name} saved`,
  removed: (name: string) => `View ${name} forgotten`,
};
