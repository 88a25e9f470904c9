import type { PageMessages } from "../en/pages";
import type { SpokenStep } from "../en/steps";

export const steps: PageMessages["steps"] = {
  steps: (n: number) => `${n} 个步骤`,
  states: { waiting: "等待依赖", ready: "就绪", unknown: "未知" },
  finally: "收尾",
  mayFail: "允许失败",
  tree: (n: number) => `工作流图，共 ${n} 个步骤`,
  item: ({ at, of, name, state, after, more, wrong }: SpokenStep) =>
    [
      `步骤 ${at}/${of}`,
      name,
      state,
      wrong && "有问题",
      after.length > 0 && `依赖 ${after.join("、")}${more > 0 ? ` 等另外 ${more} 个` : ""}`,
    ]
      .filter(Boolean)
      .join("，"),
  stack: (name: string, n: number) => `${name}，${n} 个相同步骤`,
  tally: (n: number, of: number) => `${n}/${of}`,
  views: "图、时间线、步骤或日志",
  view: { graph: "工作流图", timeline: "时间线", steps: "步骤", log: "日志" },
  columns: {
    step: "步骤",
    state: "状态",
    after: "依赖",
    started: "开始时间",
    duration: "耗时",
    attempt: "尝试次数",
    why: "原因",
  },
  on: { success: "成功后", failure: "失败后", end: "结束后", always: "总是" },
  join: (join: string) => ({ taken: "已执行分支汇聚", any: "任一满足" })[join] ?? `至少满足 ${join} 个`,
  condition: "条件",
  unmet: "未满足",
  panel: (step: string) => `步骤 ${step}`,
  openRun: "作为运行打开",
  cancel: "取消步骤",
  logOf: "查看哪个步骤的日志",
  attemptOf: (n: number, of: number) => `第 ${n} 次，最多 ${of} 次`,
  noneYet: "还没有步骤开始。",
  critical: "在关键路径上",
  criticalHint: "带下划线的步骤构成关键路径，决定了整个运行的耗时。",
  never: (n: number) => `${n} 个步骤未开始。`,
  ofRun: (id: string) => `属于运行 ${id} 的步骤`,
  find: "查找步骤",
  nextBad: "下一个失败的步骤",
  zoomIn: "放大",
  zoomOut: "缩小",
  showAll: "显示全部",
  noLayout: "此浏览器无法绘制工作流图，表格中列有全部步骤。",
};
