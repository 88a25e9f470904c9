import type { secrets as english } from "../en/secrets";

export const secrets: typeof english = {
  title: "密钥",
  create: "新建密钥…",
  createIn: (group) => `在 ${group} 中新建密钥`,
  replace: (name) => `替换 ${name}`,
  hint: "服务器为该分组的执行器加密，不保留明文，任何人都无法再读出。",
  name: "名称",
  value: "值",
  description: "用途",
  save: "保存密钥",
  none: "没有密钥",
  noneHint: "任务以变量形式使用密钥，只有该分组的执行器能解密。",
  note: "任务以变量形式使用，任何人都无法再读出",
  usedBy: "引用它的任务",
  unused: "无",
  more: (n) => `另有 ${n} 个`,
  remove: (name) => `删除密钥 ${name}？`,
  removeHint: (jobs) => (jobs === 0 ? "没有任务引用它。" : `${jobs} 个任务引用它，此后其运行会失败。`),
  updated: "更改时间",
  by: "更改人",
};
