import type { clock as english } from "../en/clock";

export const clock: typeof english = {
  title: "时钟调整",
  fire: {
    after_gap: (wall, at) => `当天不存在 ${wall}，于 ${at} 触发。`,
    first_pass: (wall) => `当天 ${wall} 出现两次，这是第一次。`,
    second_pass: (wall) => `当天 ${wall} 出现两次，这是第二次。`,
  },
  none: (zone) => `${zone} 不调整时钟。`,
  elapsed: "间隔按实际经过的时间计算，不受时钟调整影响。",
  forward: (day, from, to) => `${day}，时钟从 ${from} 拨快到 ${to}。`,
  back: (day, from, to) => `${day}，时钟从 ${from} 拨回到 ${to}。`,
  gap: {
    fire: "时刻不存在的触发在空档结束时进行。",
    skip: "不存在的时刻不触发。",
  },
  overlap: {
    first: "出现两次的时刻在第一次触发。",
    last: "出现两次的时刻在第二次触发。",
    both: "出现两次的时刻两次都触发。",
  },
};
