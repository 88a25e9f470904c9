import { count } from "./words";

export const cluster = {
  title: "Cluster",
  nodes: "Scheduler nodes",
  node: "Node",
  shardsOwned: "Shards",
  version: "Version",
  host: "Host",
  uptime: "Uptime",
  shards: "Shards and their owners",
  unowned: "no owner",
  shardsOf: (node: string, n: number) => `${node}: ${count(n, "shard", "shards")}`,
  shard: (n: number, owner: string) => `Shard ${n}: ${owner}`,
  parts: "Components",
  answers: "Answers",
  doesNot: "Does not answer",
  server: "This server",
  go: "Go",
  switch: "Everything",
  running: "Jobs fire on schedule.",
  busSilent: "NATS does not answer: nothing fires until it does.",
  heldNow: "Everything is paused.",
  pauseAsk: "Pause everything?",
  pauseSkips: (n: number) =>
    n === 1 ? "1 fire is due within the next hour." : `${n} fires are due within the next hour.`,
  resumeAsk: "Resume everything?",
  resumeHint:
    "All jobs fire again. Fires that were skipped in the meantime stay skipped; use a backfill to run them.",
  pauseHint:
    "Until somebody resumes, the fires of all jobs are recorded as skipped. Runs that have started continue.",
  since: (time: string) => `since ${time}`,
  reason: "Reason",
};
