import { Link } from "@tanstack/react-router";
import { usePageT } from "@/i18n";

const views = {
  timeline: "/schedule",
  load: "/schedule/load",
  calendar: "/schedule/calendar",
} as const;

/** The views of the schedule. */
export function ScheduleTabs({ on }: { on: keyof typeof views }) {
  const t = usePageT();
  return (
    <nav className="tabs" aria-label={t.plan.title}>
      {(["timeline", "load", "calendar"] as const).map((view) => (
        <Link
          key={view}
          to={views[view]}
          className={view === on ? "tab on" : "tab"}
          aria-current={view === on ? "page" : undefined}
        >
          {t.plan[view]}
        </Link>
      ))}
    </nav>
  );
}
