import { count } from "./words";

export const cluster = {
  title: "Cluster",
  nodes: "Scheduler nodes",
  node: "Node",
  shardsOwned: "Shards",
  version: "Version",
  host: "Host",
  uptime: "Up for",
  shards: "Shards and their owners",
  unowned: "no owner",
  shard: (n: number, owner: string) => `Shard ${n}: ${owner}`,
  parts: "Parts",
  answers: "Answers",
  doesNot: "Does not answer",
  server: "This server",
  go: "Go",
  switch: "Everything",
  running: "Jobs fire as planned.",
  heldNow: "Everything is paused.",
  pauseAll: "Pause everything",
  resumeAll: "Resume everything",
  pauseAsk: "Pause everything?",
  pauseHint:
    "Every fire of every job is recorded as skipped until it is resumed. Runs that are in flight go on.",
  since: (time: string) => `since ${time}`,
  reason: "Why",
};

export const calendars = {
  title: "Calendars",
  none: "No calendars yet",
  noneHint: "A calendar is a named set of dates and windows. Schedules skip them, or keep to them.",
  dates: (n: number) => count(n, "date", "dates"),
  windows: (n: number) => count(n, "window of the week", "windows of the week"),
};
