import { count } from "./words";

export const jobs = {
  group: "Group",
  historyAway: "History does not answer",
  strip: (n: number, failed: number) => `Last ${count(n, "run", "runs")}, ${failed} failed`,
};
