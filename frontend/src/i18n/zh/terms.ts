import type { Cause, Status } from "@/api/schema.gen";
import type { Weekday } from "@/lib/cron";
import type { Messages } from "../en";

export const dayNames: Record<Weekday, string> = {
  MON: "星期一",
  TUE: "星期二",
  WED: "星期三",
  THU: "星期四",
  FRI: "星期五",
  SAT: "星期六",
  SUN: "星期日",
};
export const shortDays: Record<Weekday, string> = {
  MON: "一",
  TUE: "二",
  WED: "三",
  THU: "四",
  FRI: "五",
  SAT: "六",
  SUN: "日",
};
export const monthNames = [
  "1 月",
  "2 月",
  "3 月",
  "4 月",
  "5 月",
  "6 月",
  "7 月",
  "8 月",
  "9 月",
  "10 月",
  "11 月",
  "12 月",
];

export const status: Record<Status, string> = {
  pending: "等待中",
  queued: "排队中",
  running: "运行中",
  succeeded: "成功",
  failed: "失败",
  timed_out: "超时",
  cancelled: "已取消",
  lost: "失联",
  skipped: "已跳过",
  missed: "错过触发",
};

export const cause: Record<Cause, string> = {
  schedule: "调度",
  misfire: "错过补跑",
  backfill: "补数",
  manual: "手动",
  api: "API",
  parent: "父任务",
  rerun: "重跑",
  ping: "上报",
  step: "工作流步骤",
  test: "草稿测试",
};

export const state: Messages["state"] = {
  active: "启用",
  paused: "已暂停",
  manual: "仅手动",
  ended: "已结束",
  none: "—",
};

export const time: Messages["time"] = {
  wall: "请输入日期和时间，如 2026-11-29 14:30。",
  now: "现在",
  justNow: "刚刚",
  ago: (text) => `${text}前`,
  in: (text) => `${text}后`,
  seconds: (n) => `${n} 秒`,
  minutes: (n) => `${n} 分钟`,
  hours: (n) => `${n} 小时`,
  days: (n) => `${n} 天`,
};
