import type { Messages } from "../en";

export const executors: Messages["executors"] = {
  moreInstances: (n) => `另有 ${n} 个实例未列出：实例超过 1000 个的分组会被服务器拒绝`,
  title: "执行器",
  onlineCount: (n) => `${n} 个在线`,
  states: {
    online: "在线",
    draining: "排空中",
    cordoned: "已隔离",
    lost: "失联",
    incompatible: "不兼容",
    empty: "无执行器",
  },
};
