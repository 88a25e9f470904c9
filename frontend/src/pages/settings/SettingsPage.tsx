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
const About = lazy(() => import("./About"));

/** What one chooses for oneself, and what administrators choose for all. */
export default function SettingsPage() {
  const t = useSettingsT();
  const { tab = "profile" } = useParams({ strict: false }) as { tab?: (typeof settingsTabs)[number] };
  const me = useQuery(meQuery).data;
  const may = useMay();
  const tabs = settingsTabs.filter((s) => s !== "users" || (me && may("admin", "*")));
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
          {tab === "about" && <About />}
        </div>
      </Suspense>
    </Page>
  );
}
