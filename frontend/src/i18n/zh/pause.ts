import type { Messages } from "../en";

export const pause: Messages["pause"] = {
  until: "暂停至",
  ends: {
    never: "手动恢复",
    "1h": "1 小时后",
    "4h": "4 小时后",
    tomorrow: "明天 09:00",
    at: "指定时间…",
  },
  at: (zone) => `时间（${zone}）`,
  ahead: "请填写将来的时间",
  resumes: (time) => `将于 ${time} 自动恢复，该时刻的触发会运行。`,
  none: "接下来的触发都不在暂停期间。",
  pausedUntil: (time) => `暂停至 ${time}`,
  banner: (time) => `任务暂停至 ${time}。此前的触发记录为已跳过，之后自动恢复。`,
  heldUntil: (time) => `至 ${time}`,
  wouldSkip: "将被跳过",
  wouldSkipHint: "全部任务已暂停，此次触发将记录为已跳过。",
};
