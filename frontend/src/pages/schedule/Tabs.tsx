import { Link } from "@tanstack/react-router";
import { useT } from "@/i18n";

/** The views of the schedule. */
export function ScheduleTabs({ on }: { on: "timeline" | "load" }) {
  const t = useT();
  return (
    <nav className="seg" aria-label={t.plan.title}>
      <Link
        to="/schedule"
        className={on === "timeline" ? "on" : undefined}
        aria-current={on === "timeline" ? "page" : undefined}
      >
        {t.plan.timeline}
      </Link>
      <Link
        to="/schedule/load"
        className={on === "load" ? "on" : undefined}
        aria-current={on === "load" ? "page" : undefined}
      >
        {t.plan.load}
      </Link>
    </nav>
  );
}
