import type { PageMessages } from "../en/pages";
import { number } from "./words";

export const runlist: PageMessages["runlist"] = {
  title: "运行记录",
  filterJob: "任务，格式为 分组/名称",
  status: "状态",
  cause: "触发方式",
  group: "分组",
  instance: "执行器",
  none: "没有匹配的运行",
  noneHint: "请扩大时间范围，或清除筛选。",
  retriedHint: "因此错误失败的运行，可能在后续重试中已成功。",
  noneYet: "此时间范围内没有运行",
  noneYetHint: "任务触发或有人执行任务后，运行会显示在这里。",
  histogram: (runs, absent) =>
    `范围内 ${number(runs)} 次运行${absent > 0 ? `，另有 ${number(absent)} 次触发被跳过或错过` : ""}`,
  newRuns: (n) => `${n} 次新运行`,
  attempt: (n) => `第 ${n} 次尝试`,
  end: "已全部显示",
  facets: "筛选运行",
  idle: "对当前表格不起作用",
  triedAgain: "重试过",
  moreValues: (n) => `另外 ${n} 项`,
  sortedHint: (n, all) =>
    all
      ? "已显示范围内的全部运行。当前排序下不实时更新；按“计划时间”排序可让最新的在前。"
      : `仅显示此排序下的前 ${n} 条。排序需要读取范围内的全部运行，缩小范围可查看其他运行。`,
  bulk: {
    selected: (n) => `已选 ${n} 条`,
    allMatching: (n) => `选择全部 ${n.toLocaleString("zh-CN")} 条匹配项`,
    copyIds: "复制编号",
    ofJobs: (runs, jobs) => `${jobs} 个任务的 ${runs} 次运行`,
    ranAgain: (run) => `已重跑，见 ${run}`,
    twice: (n) => `也包括 ${n} 次已重跑过的运行`,
    begun: (n, bad) => `已开始 ${n} 次运行${bad > 0 ? `，${bad} 次被拒绝` : ""}，进展如下。`,
    sameVersion: "各运行自己的版本",
    verbs: { rerun: "重跑", cancel: "取消", mark: "标记为…" },
    ask: {
      rerun: (n) => `重跑 ${n} 次运行`,
      cancel: (n) => `取消 ${n} 次运行`,
      mark: (n) => `标记 ${n} 次运行`,
    },
  },
  byCause: "按原因查看错误",
  breakdown: {
    label: "每行显示",
    none: "运行",
    job: "任务",
    instance: "执行器",
    hints: {
      job: "该时间段内结束的运行。此表只按分组和任务筛选。",
      instance: "该时间段内结束的尝试。此表只按分组筛选。",
    },
  },
};
