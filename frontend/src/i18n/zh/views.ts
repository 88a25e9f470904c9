import type { views as english } from "../en/views";

export const views: typeof english = {
  columns: "列",
  columnsHint: "保存在此浏览器和网址中，他人打开您的链接会看到相同的列。",
  usual: "恢复默认",
  earlier: (column) => `${column} 前移`,
  later: (column) => `${column} 后移`,
  title: "视图",
  save: "保存当前筛选…",
  nothing: "没有设置筛选",
  remove: (name) => `移除 ${name}`,
  name: "名称",
  saveTitle: "保存当前筛选",
  saveHint: "以此名称保存在此浏览器中，仅供您使用。同名的视图会被覆盖。",
  saveVerb: "保存视图",
  saved: (name) => `视图 ${name} 已保存`,
  removed: (name) => `视图 ${name} 已移除`,
};
