import type { Messages } from "../en";
import type { PageMessages } from "../en/pages";

export const rangeNames: Messages["rangeNames"] = {
  today: "今天",
  yesterday: "昨天",
  week: "本周",
  "last-week": "上周",
  month: "本月",
  "last-month": "上月",
  all: "全部时间",
};

export const range: PageMessages["range"] = {
  title: "时间范围",
  upToNow: "截至现在",
  days: "整天",
  own: "自定义",
  from: "开始",
  to: "结束",
  zone: "时区",
  zones: { browser: "浏览器", job: "任务" },
  previous: "上个月",
  next: "下个月",
  keys: "方向键按天和周移动，PageUp 和 PageDown 按月移动，Enter 选择。",
  apply: "应用",
  order: "结束时间必须晚于开始时间。",
  lasts: (time) => `共 ${time}`,
  kept: (date) => `历史记录保留自 ${date}。`,
  problems: {
    range: (value, used) => `此页面没有时间范围“${value}”，当前显示：${used}。`,
    from: (value, used) =>
      `“${value}”不是有效的 from 时间，格式应为 2026-11-12T02:00:00Z。当前显示：${used}。`,
    to: (value, used) => `“${value}”不是有效的 to 时间，格式应为 2026-11-12T04:00:00Z。当前显示：${used}。`,
    zone: (value) => `没有时区“${value}”，日期按您自己的时区计算。`,
    order: (used) => `to 必须晚于 from。当前显示：${used}。`,
    half: (used) => `时间范围需要同时有 from 和 to。当前显示：${used}。`,
    kept: (since) => `历史记录保留自 ${since}，时间范围从该时刻开始。`,
    gone: (since) => `历史记录保留自 ${since}，所选范围全部早于该时刻。`,
    longest: (days, since) => `此页面最多显示 ${days} 天：自 ${since} 起。`,
  },
};
