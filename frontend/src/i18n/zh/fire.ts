import type { PageMessages } from "../en/pages";

export const fire: PageMessages["fire"] = {
  menu: (time) => `${time} 的触发：操作`,
  what: "操作",
  reason: "原因（将记录在案）",
  back: "恢复此次触发",
  ranEarly: "已提前运行",
  skip: {
    item: "跳过此次触发…",
    verb: "跳过",
    ask: (job, time) => `跳过 ${job} 在 ${time} 的触发？`,
    hint: "到触发时间后，此次触发将记录为已跳过，并注明操作人与原因。其他触发不受影响；在此之前可以撤销。",
    done: (job) => `已跳过 ${job} 的一次触发`,
  },
  early: {
    item: "改为现在运行…",
    verb: "现在运行",
    ask: (job, time) => `现在运行 ${job}，代替 ${time} 的触发？`,
    hint: "立即开始一次运行；原触发到时记录为已跳过，因此不会运行两次。",
    done: (job) => `${job} 已提前开始运行`,
  },
};

export const remedy: PageMessages["remedy"] = {
  runs: "查看该任务未结束的运行",
  everything: "前往集群页面",
  run: "查看最后一次失败的运行",
  waits: (since) => `有运行从 ${since} 起一直在等待：`,
  waitsQuietly: "尚未被执行器接收",
  warned: "其运行将无法开始：",
};
