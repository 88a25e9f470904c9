import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { meQuery } from "@/api/session";
import { Skeleton } from "@/components/Panel";
import { settingsTabs } from "@/router";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { useSettingsT } from "./texts";

const Profile = lazy(() => import("./Profile"));
const Users = lazy(() => import("./Users"));
const Tokens = lazy(() => import("./Tokens"));
const Secrets = lazy(() => import("./Secrets"));
const Retention = lazy(() => import("./Retention"));
const About = lazy(() => import("./About"));

/** What one chooses for oneself, and what administrators choose for all. */
export default function SettingsPage() {
  const t = useSettingsT();
  const { tab = "profile" } = useParams({ strict: false }) as { tab?: (typeof settingsTabs)[number] };
  const me = useQuery(meQuery).data;
  const may = useMay();
  const opens = (s: (typeof settingsTabs)[number]) => {
    if (s === "users") return may("admin", "*");
    if (s === "secrets") return may("edit");
    return s !== "retention" || may("view", "*");
  };
  const tabs = settingsTabs.filter((s) => me && opens(s));
  return (
    <Page
      crumbs={[{ text: t.nav.settings }]}
      head={
        <nav className="tabs" aria-label={t.nav.settings}>
          {tabs.map((s) => (
            <Link
              key={s}
              to="/settings/$tab"
              params={{ tab: s }}
              className={s === tab ? "tab on" : "tab"}
              aria-current={s === tab ? "page" : undefined}
            >
              {t.settings.tabs[s]}
            </Link>
          ))}
        </nav>
      }
    >
      <Suspense fallback={<Skeleton />}>
        <div className="pad settings">
          {tab === "profile" && <Profile />}
          {tab === "users" && <Users />}
          {tab === "tokens" && <Tokens />}
          {tab === "secrets" && <Secrets />}
          {tab === "retention" && <Retention />}
          {tab === "about" && <About />}
        </div>
      </Suspense>
    </Page>
  );
}
