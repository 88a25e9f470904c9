import type { logs as english } from "../en/logs";

export const logs: typeof english = {
  filter: '关键词,或 "完整短语"…',
  level: "级别",
  found: (n, more) => `${n.toLocaleString("zh-CN")}${more ? "+" : ""} 行`,
  none: "没有匹配的日志行",
  noneHint: "行中须包含所有词语,不分顺序与大小写。请扩大范围或减少词语。",
  onlyJob: "仅此任务",
  end: "已全部列出",
};
