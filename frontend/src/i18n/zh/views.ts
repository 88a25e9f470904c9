import type { views as english } from "../en/views";

export const views: typeof english = {
  title: "视图",
  save: "保存当前筛选…",
  nothing: "没有设置筛选",
  remove: (name) => `移除 ${name}`,
  name: "名称",
  saveTitle: "保存当前筛选",
  saveHint: "以名称保存在此浏览器中，仅供您使用。同名的视图会被替换。",
  saveVerb: "保存视图",
  saved: (name) => `视图 ${name} 已保存`,
  removed: (name) => `视图 ${name} 已移除`,
};
