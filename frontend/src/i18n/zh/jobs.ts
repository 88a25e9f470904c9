import type { Messages } from "../en";

export const jobs: Messages["jobs"] = {
  group: "分组",
  historyAway: "历史记录没有响应",
  strip: (n, failed) => `最近 ${n} 次运行，${failed} 次失败`,
};
