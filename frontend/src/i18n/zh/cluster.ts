import type { Messages } from "../en";

export const cluster: Messages["cluster"] = {
  title: "集群",
  nodes: "调度节点",
  node: "节点",
  shardsOwned: "分区",
  version: "版本",
  host: "主机",
  uptime: "已运行",
  shards: "分区及其归属",
  unowned: "无归属",
  shard: (n, owner) => `分区 ${n}：${owner}`,
  parts: "组成部分",
  answers: "正常响应",
  doesNot: "没有响应",
  server: "本服务器",
  go: "Go",
  switch: "总开关",
  running: "任务按计划触发。",
  heldNow: "全部已暂停。",
  pauseAll: "全部暂停",
  resumeAll: "全部恢复",
  pauseAsk: "暂停所有任务？",
  pauseHint: "在恢复之前，所有任务的触发都会被记录为已跳过。进行中的运行继续。",
  since: (time) => `自 ${time}`,
  reason: "原因",
};

export const calendars: Messages["calendars"] = {
  title: "日历",
  none: "还没有日历",
  noneHint: "日历是命名的日期与时间窗集合，调度可以跳过或仅限于它们。",
  dates: (n) => `${n} 个日期`,
  windows: (n) => `${n} 个每周时间窗`,
};
