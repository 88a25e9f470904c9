import type { errors as english } from "../en/errors";
import { number } from "./words";

export const errors: typeof english = {
  find: "在消息中查找",
  none: "此范围内没有失败",
  noneHint: "失败、超时和失联的尝试按消息归类后列在这里。",
  noMatch: "没有匹配的错误",
  hint: (groups, attempts) => `${number(groups)} 种错误，共 ${attempts} 次失败的尝试`,
  most: (n) => `只列出最常见的 ${number(n)} 种。缩小范围可查看其他错误。`,
  bars: (n, peak) => `此范围内共 ${number(n)} 次失败的尝试，单格最多 ${number(peak)} 次`,
  seen: (first, last) => `首次 ${first}，最近 ${last}`,
  versions: (list) => `版本 ${list}`,
  overTime: "时间分布",
  attempts: "尝试",
  lastSeen: "最近出现",
  since: (first) => `始于 ${first}`,
  andMore: (n) => `另有 ${number(n)} 个任务`,
  lastRun: "最近的运行",
  exit: (code) => `退出码 ${code}`,
  noIncident: "没有告警事件",
  toRule: "创建规则",
  alike: (n, since) => `自 ${since} 起，有 ${n} 次尝试因相同错误失败`,
};
