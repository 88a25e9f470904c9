export const count = (n: number, one: string, many: string) =>
  `${n.toLocaleString("en-GB")} ${n === 1 ? one : many}`;
export const list = (items: string[]) => new Intl.ListFormat("en-GB", { type: "conjunction" }).format(items);
export const either = (items: string[]) =>
  new Intl.ListFormat("en-GB", { type: "disjunction" }).format(items);
