/** Sets of filters that one keeps under a name, and which columns one wants. */
export const views = {
  columns: "Columns",
  columnsHint: "Kept in this browser and in the address, so your links show the same columns.",
  usual: "Default",
  earlier: (column: string) => `Move ${column} forward`,
  later: (column: string) => `Move ${column} back`,
  title: "Views",
  save: "Save these filters…",
  nothing: "No filter is set",
  remove: (name: string) => `Delete the view ${name}`,
  name: "Name",
  saveTitle: "Save these filters",
  saveHint: "Saved under a name in this browser. If the name exists, its filters are replaced.",
  saveVerb: "Save view",
  saved: (name: string) => `View ${name} saved`,
  removed: (name: string) => `View ${name} deleted`,
};
