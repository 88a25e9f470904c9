import type { Cause, Status } from "@/api/schema.gen";
import type { Sentence, Weekday } from "@/lib/cron";
import type { Messages } from "../en";
import { list } from "./words";

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

function weekOf(days: Weekday[]): string {
  const all = days.join();
  if (all === "MON,TUE,WED,THU,FRI") return "工作日";
  if (all === "SAT,SUN") return "周末";
  if (days.length === 7) return "每天";
  const [first, last] = [days[0], days.at(-1)];
  if (days.length > 3 && first && last && Object.keys(dayNames).join().includes(all)) {
    return `每周${shortDays[first]}至周${shortDays[last]}`;
  }
  return `每周${list(days.map((d) => shortDays[d]))}`;
}

function sentence(s: Sentence): string {
  switch (s.every) {
    case "second":
      return s.n === 1 ? "每秒" : `每 ${s.n} 秒`;
    case "minute":
      return s.n === 1 ? "每分钟" : `每 ${s.n} 分钟`;
    case "hour":
      return `${s.n === 1 ? "每小时" : `每 ${s.n} 小时`}${s.minute === 0 ? "" : `的第 ${s.minute} 分`}`;
    case "day":
      return `每天 ${list(s.times)}`;
    case "week":
      return `${weekOf(s.days)} ${list(s.times)}`;
    case "month":
      if (s.on.kind === "days") return `每月 ${list(s.on.days.map((d) => `${d} 日`))} ${list(s.times)}`;
      if (s.on.kind === "last") return `每月最后一天 ${list(s.times)}`;
      return `每月第 ${s.on.nth} 个${dayNames[s.on.day]} ${list(s.times)}`;
    case "year":
      return `每年 ${s.month} 月 ${s.day} 日 ${list(s.times)}`;
  }
}

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
  backfill: "回填",
  manual: "手动",
  api: "API",
  parent: "父任务",
  retry: "重试",
};

export const state: Messages["state"] = {
  active: "启用",
  paused: "已暂停",
  manual: "仅手动",
  ended: "已结束",
  none: "—",
};

export const time: Messages["time"] = {
  now: "现在",
  justNow: "刚刚",
  ago: (text) => `${text}前`,
  in: (text) => `${text}后`,
  seconds: (n) => `${n} 秒`,
  minutes: (n) => `${n} 分钟`,
  hours: (n) => `${n} 小时`,
  days: (n) => `${n} 天`,
};

export const schedule: Messages["schedule"] = {
  every: (d) => `每 ${d}`,
  after: (d) => `每次结束后 ${d}`,
  once: "一次",
  manual: "手动",
  sentence,
};
