import type { clock as english } from "../en/clock";

export const clock: typeof english = {
  title: "夏令时切换",
  fire: {
    after_gap: (wall, at) => `当天没有 ${wall} 这一时间，将在 ${at} 触发。`,
    first_pass: (wall) => `当天 ${wall} 出现两次，这是第一次。`,
    second_pass: (wall) => `当天 ${wall} 出现两次，这是第二次。`,
  },
  none: (zone) => `${zone} 没有夏令时切换。`,
  elapsed: "间隔按实际经过的时间计算，不受夏令时切换影响。",
  forward: (day, from, to) => `${day}，时钟从 ${from} 拨快到 ${to}。`,
  back: (day, from, to) => `${day}，时钟从 ${from} 拨回到 ${to}。`,
  gap: {
    fire: "触发时间不存在时，在空档结束时触发。",
    skip: "触发时间不存在时，不触发。",
  },
  overlap: {
    first: "出现两次的时间，第一次触发。",
    last: "出现两次的时间，第二次触发。",
    both: "出现两次的时间，两次都触发。",
  },
};
