import type { secrets as english } from "../en/secrets";

export const secrets: typeof english = {
  title: "密钥",
  create: "新建密钥…",
  createIn: (group) => `在 ${group} 中新建密钥`,
  replace: (name) => `替换 ${name}`,
  hint: "服务器为分组的执行器加密后即遗忘,任何人都无法再读出。",
  name: "名称",
  value: "值",
  description: "用途",
  save: "保存密钥",
  none: "没有密钥",
  remove: (name) => `删除密钥 ${name}?`,
  removeHint: "此后引用它的运行会失败。",
  updated: "更改时间",
  by: "更改人",
};
