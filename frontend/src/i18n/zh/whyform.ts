import type { PageMessages } from "../en/pages";

export const whyForm: PageMessages["whyForm"] = {
  title: "为什么没运行？",
  hint: "查询任务在某一时刻为何运行或没有运行",
  job: "任务",
  at: "时间",
  example: "昨天 09:00",
  explain: "查询",
  wrongJob: "请输入任务，格式为 分组/名称",
  wrongTime: "请输入时间，例如 2026-11-30 09:00 或 昨天 09:00",
};
