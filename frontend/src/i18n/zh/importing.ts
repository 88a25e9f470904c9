import type { importing as english } from "../en/importing";

const counts = (rows: { outcome: string }[], words: [string, string][]) =>
  words
    .map(([outcome, word]) => [rows.filter((r) => r.outcome === outcome).length, word] as const)
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${word} ${n} 个`)
    .join("，");

export const importing: typeof english = {
  title: "导入任务",
  hint: "先检查每个任务的导入结果，确认后才会保存。",
  format: "格式",
  file: "打开文件…",
  zone: "时区",
  groupElse: "转储中找不到执行器的任务，归入此分组",
  texts: {
    yaml: "任务与日历，多个以 --- 分隔",
    crontab: "crontab 内容",
    "xxl-job": "xxl_job_group 与 xxl_job_info 两张表的转储（SQL）",
  },
  check: "检查",
  back: "返回",
  go: (n, jobs) => `保存 ${n} 个${jobs ? "任务" : "文档"}`,
  note: "导入",
  outcome: "结果",
  name: "名称",
  line: "行",
  number: "编号",
  why: "更改内容或原因",
  saved: "已保存",
  outcomes: {
    created: "新建",
    changed: "更改",
    unchanged: "不变",
    conflict: "冲突",
    skipped: "跳过",
    broken: "被拒绝",
    leftover: "遗留",
  },
  noDocument: "既不是任务（job），也不是日历（calendar）",
  conflictWhy: "已有同名任务，它并非由此导入，或导入后已被修改。",
  leftoverWhy: "此任务由以前的导入创建，这次导入不再包含它。它仍会触发；如不需要，请删除。",
  overwrite: (n) => `覆盖 ${n} 个在此新建或修改过的任务`,
  dry: (rows) =>
    rows.length === 0
      ? "没有可导入的内容。"
      : `${counts(rows, [
          ["created", "新建"],
          ["changed", "更改"],
          ["unchanged", "不变"],
          ["conflict", "冲突"],
          ["skipped", "跳过"],
          ["broken", "被拒绝"],
          ["leftover", "以前导入遗留"],
        ])}。尚未保存。`,
  paused: "以暂停状态保存：导入的任务在恢复之前不会触发",
  workflows: "将子任务转为工作流：每个有调度和子任务的任务成为一个工作流",
  done: (rows) => {
    const refused = rows.filter((r) => r.outcome === "broken").length;
    return `已保存 ${rows.filter((r) => r.saved).length} 个${refused > 0 ? `，被拒绝 ${refused} 个` : ""}。`;
  },
};
