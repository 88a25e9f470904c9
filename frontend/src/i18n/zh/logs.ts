import type { logs as english } from "../en/logs";

export const logs: typeof english = {
  filter: '关键词、"完整短语"、level:error、job:分组/任务…',
  level: "级别",
  found: (n, more) => `${n.toLocaleString("zh-CN")}${more ? "+" : ""} 行`,
  none: "没有匹配的日志行",
  noneHint: "一行日志须包含所有关键词，不分顺序与大小写。请扩大范围、减少关键词，或用 * 匹配单词的一部分。",
  onlyJob: "仅此任务",
  around: "前后日志行",
  piece: (i) => `分片 ${i}`,
  export: "导出",
  formats: { csv: "CSV", ndjson: "NDJSON", txt: "纯文本" },
  saved: (n) => `已保存 ${n} 行`,
  savedSome: "还有更多：请缩小范围或减少任务。",
  end: "已全部列出",
  chart: (n, errors, warnings) => `按时间分布的 ${n} 行，其中错误 ${errors}、警告 ${warnings}`,
  others: "其他",
  chartHint: "按所属运行的触发时间统计。点击柱条可缩小到该时段，拖动可选多个。",
  countedSince: (at) => `仅统计到 ${at} 为止；缩短范围或增加筛选条件后可统计全部。`,
  uncounted: "未统计",
  tail: "实时跟踪",
  tailHint: "随输出实时显示，每秒最多 500 行。",
  rate: (n, shown) =>
    shown < n
      ? `每秒 ${n.toLocaleString("zh-CN")} 行，显示 ${shown} 行`
      : `每秒 ${n.toLocaleString("zh-CN")} 行`,
  dropped: "输出过快，部分日志行缺失。",
};
