import type { jobPatch as words } from "../en/jobpatch";

export const jobPatch: typeof words = {
  act: "修改字段",
  title: (n) => `修改 ${n} 个任务的字段`,
  hint: "勾选要修改的字段。留空表示删除该字段；其他字段保持不变。",
  fields: "字段",
  yaml: "YAML",
  yamlHint: "对象会合并，列表会替换，null 表示删除字段。",
  notObject: "请填写字段及其值，例如 timeout: 10m",
  names: {
    "overlap.policy": "上一次运行未结束时",
    "retry.limit": "最大重试次数",
    "retry.delay": "重试间隔",
  },
  value: (name) => `${name}的新值`,
  removed: "删除",
  preview: "预览变更",
  back: "返回",
  would: (changed, refused, same) =>
    [`将修改 ${changed} 个任务`, refused > 0 && `${refused} 个被拒绝`, same > 0 && `${same} 个无需修改`]
      .filter(Boolean)
      .join("，"),
  list: "每个任务的变更",
  version: (n) => `版本 ${n}`,
  save: (n) => `保存 ${n} 个任务`,
  saved: (n) => `已修改 ${n} 个任务`,
  savedBut: (n, refused) => `已修改 ${n} 个任务，${refused} 个被拒绝`,
  undo: "撤销",
  undoTitle: "撤销批量变更",
  undoHint: "每个任务恢复到变更前的版本；已有更新版本的任务除外。",
};
