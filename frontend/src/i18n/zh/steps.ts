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
  find: "查找步骤",
  nextBad: "下一个失败的步骤",
  zoomIn: "放大",
  zoomOut: "缩小",
  showAll: "显示全部",
  noLayout: "此浏览器无法绘制工作流图，表格中列有全部步骤。",
};
