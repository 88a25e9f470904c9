import "cronstrue/locales/zh_CN"; // so that expressions beyond our own words are said in Chinese too
import type { Sentence, Weekday } from "@/lib/cron";
import type { DateRule, Interval } from "@/lib/interval";
import type { PageMessages } from "../en/pages";
import { dayNames, shortDays } from "./terms";
import { list } from "./words";

function weekOf(days: Weekday[]): string {
  const all = days.join();
  if (all === "MON,TUE,WED,THU,FRI") return "工作日";
  if (all === "SAT,SUN") return "周末";
  if (days.length === 7) return "每天";
  const [first, last] = [days[0], days.at(-1)];
  if (days.length > 3 && first && last && Object.keys(dayNames).join().includes(all)) {
    return `每周${shortDays[first]}至周${shortDays[last]}`;
  }
  return `每周${list(days.map((d) => shortDays[d]))}`;
}

function sentence(s: Sentence): string {
  switch (s.every) {
    case "second":
      return s.n === 1 ? "每秒" : `每 ${s.n} 秒`;
    case "minute":
      return s.n === 1 ? "每分钟" : `每 ${s.n} 分钟`;
    case "hour":
      return `${s.n === 1 ? "每小时" : `每 ${s.n} 小时`}${s.minute === 0 ? "" : `的第 ${s.minute} 分`}`;
    case "day":
      return `每天 ${list(s.times)}`;
    case "week":
      return `${weekOf(s.days)} ${list(s.times)}`;
    case "month":
      if (s.on.kind === "days") return `每月 ${list(s.on.days.map((d) => `${d} 日`))} ${list(s.times)}`;
      if (s.on.kind === "last") return `每月最后一天 ${list(s.times)}`;
      return `每月第 ${s.on.nth} 个${dayNames[s.on.day]} ${list(s.times)}`;
    case "year":
      return `每年 ${s.month} 月 ${s.day} 日 ${list(s.times)}`;
  }
}

const everyUnit = { days: "天", weeks: "周", months: "个月", years: "年" };
const oneUnit = { days: "天", weeks: "周", months: "月", years: "年" };

function dateRule(rule: DateRule): string {
  if ("day" in rule) return `${rule.day} 日`;
  if ("last" in rule) return "最后一天";
  return `${rule.nth > 5 ? "最后一个" : `第 ${rule.nth} 个`}${dayNames[rule.weekday]}`;
}

function interval(v: Interval): string {
  const head = v.n === 1 ? `每${oneUnit[v.unit]}` : `每 ${v.n} ${everyUnit[v.unit]}`;
  const month = v.unit === "years" ? `${v.month} 月` : "";
  const days = [...v.days.map((d) => `周${shortDays[d]}`), ...v.dates.map(dateRule), ...v.raw];
  const words = [head, `${month}${month && days.length > 0 ? " " : ""}${list(days)}`, list(v.times)];
  return `${words.filter(Boolean).join(" ")}${v.n === 1 ? "" : `（自 ${v.from} 起）`}`;
}

export const schedule: PageMessages["schedule"] = {
  interval,
  every: (d) => `每 ${d}`,
  after: (d) => `每次结束后 ${d}`,
  once: "一次",
  manual: "手动",
  sentence,
};
