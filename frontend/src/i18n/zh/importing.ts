import type { importing as english } from "../en/importing";

const counts = (rows: { outcome: string }[], words: [string, string][]) =>
  words
    .map(([outcome, word]) => [rows.filter((r) => r.outcome === outcome).length, word] as const)
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${word} ${n} 个`)
    .join(",");

export const importing: typeof english = {
  title: "导入任务",
  hint: "在您看到每项结果之前,不会保存任何内容。",
  format: "格式",
  file: "打开文件…",
  zone: "时区",
  yamlText: "任务与日历,多个以 --- 分隔",
  crontabText: "crontab 内容",
  check: "检查",
  back: "返回",
  go: (n) => `保存 ${n} 个文档`,
  note: "导入",
  outcome: "结果",
  name: "名称",
  line: "行",
  why: "更改内容或原因",
  saved: "已保存",
  outcomes: { created: "新建", changed: "更改", unchanged: "不变", skipped: "跳过", broken: "被拒绝" },
  dry: (rows) =>
    rows.length === 0
      ? "其中没有文档。"
      : `${counts(rows, [
          ["created", "新建"],
          ["changed", "更改"],
          ["unchanged", "不变"],
          ["skipped", "跳过"],
          ["broken", "被拒绝"],
        ])}。尚未保存。`,
  done: (rows) => {
    const refused = rows.filter((r) => r.outcome === "broken").length;
    return `已保存 ${rows.filter((r) => r.saved).length} 个${refused > 0 ? `,被拒绝 ${refused} 个` : ""}。`;
  },
};
