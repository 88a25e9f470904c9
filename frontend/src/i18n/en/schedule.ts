import type { Sentence, Weekday } from "@/lib/cron";
import type { DateRule, Interval } from "@/lib/interval";
import { dayNames, monthNames } from "./terms";
import { list } from "./words";

const ordinals = ["", "first", "second", "third", "fourth", "fifth"];
const suffix = (n: number) => {
  const tens = n % 100;
  if (tens > 10 && tens < 14) return `${n}th`;
  return `${n}${["th", "st", "nd", "rd"][n % 10] ?? "th"}`;
};

function weekOf(days: Weekday[]): string {
  const all = days.join();
  if (all === "MON,TUE,WED,THU,FRI") return "Weekdays";
  if (all === "SAT,SUN") return "Weekends";
  if (days.length === 7) return "Daily";
  if (days.length === 1 && days[0]) return `${dayNames[days[0]]}s`;
  const [first, last] = [days[0], days.at(-1)];
  const all7 = Object.keys(dayNames).join();
  if (days.length > 3 && first && last && all7.includes(all)) {
    return `${dayNames[first].slice(0, 3)} to ${dayNames[last].slice(0, 3)}`;
  }
  return list(days.map((d) => dayNames[d].slice(0, 3)));
}

function sentence(s: Sentence): string {
  switch (s.every) {
    case "second":
      return s.n === 1 ? "Every second" : `Every ${s.n} seconds`;
    case "minute":
      return s.n === 1 ? "Every minute" : `Every ${s.n} minutes`;
    case "hour": {
      const at = s.minute === 0 ? "" : ` at minute ${s.minute}`;
      return (s.n === 1 ? "Every hour" : `Every ${s.n} hours`) + at;
    }
    case "day":
      return `Daily at ${list(s.times)}`;
    case "week":
      return `${weekOf(s.days)} at ${list(s.times)}`;
    case "month":
      if (s.on.kind === "days") return `Monthly on the ${list(s.on.days.map(suffix))} at ${list(s.times)}`;
      if (s.on.kind === "last") return `On the last day of the month at ${list(s.times)}`;
      return `On the ${ordinals[s.on.nth]} ${dayNames[s.on.day]} of the month at ${list(s.times)}`;
    case "year":
      return `Every ${s.day} ${monthNames[s.month - 1]} at ${list(s.times)}`;
  }
}

const everyUnit = { days: "day", weeks: "week", months: "month", years: "year" };

function dateRule(rule: DateRule): string {
  if ("day" in rule) return `the ${suffix(rule.day)}`;
  if ("last" in rule) return "the last day";
  return `the ${ordinals[rule.nth] ?? "last"} ${dayNames[rule.weekday]}`;
}

function interval(v: Interval): string {
  const unit = everyUnit[v.unit];
  const days = [...v.days.map((d) => dayNames[d].slice(0, 3)), ...v.dates.map(dateRule), ...v.raw];
  const month = v.unit === "years" ? ` in ${monthNames[v.month - 1]}` : "";
  const on = days.length > 0 ? ` on ${list(days)}` : "";
  const at = v.times.length > 0 ? ` at ${list(v.times)}` : "";
  return `Every ${v.n === 1 ? unit : `${v.n} ${unit}s`}${month}${on}${at}${v.n === 1 ? "" : `, from ${v.from}`}`;
}

export const schedule = {
  interval,
  every: (d: string) => `Every ${d}`,
  after: (d: string) => `${d} after each end`,
  once: "Once",
  manual: "Manual",
  sentence,
};
