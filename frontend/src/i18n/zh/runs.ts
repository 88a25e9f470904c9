import type { Messages } from "../en";

export const runs: Messages["runs"] = {
  range: "时间范围",
  columns: {
    status: "状态",
    job: "任务",
    run: "运行",
    trigger: "触发方式",
    fire: "计划时间",
    delay: "等待",
    duration: "耗时",
    executor: "执行器",
    result: "结果",
    started: "开始",
    finished: "结束",
    attempt: "尝试",
    version: "版本",
    pieces: "分片",
  },
  fires: (n) => `${n} 次触发`,
  zoomOut: "显示整个范围",
  by: (who) => `由 ${who}`,
};
