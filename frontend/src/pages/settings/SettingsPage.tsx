import { Link, useParams } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense } from "react";
import type { Deed } from "@/api/session";
import { Skeleton } from "@/components/Panel";
import { usePageT } from "@/i18n";
import { settingsTabs } from "@/router";
import { Allowed } from "@/shell/Allowed";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";

type Tab = (typeof settingsTabs)[number];

const pages: Record<Tab, ComponentType> = {
  profile: lazy(() => import("./Profile")),
  users: lazy(() => import("./Users")),
  tokens: lazy(() => import("./Tokens")),
  secrets: lazy(() => import("./Secrets")),
  retention: lazy(() => import("./Retention")),
  about: lazy(() => import("./About")),
};

/** What one must be able to do for a tab, and where. The others are for everybody. */
const needs: Partial<Record<Tab, { deed: Deed; group?: string }>> = {
  users: { deed: "admin", group: "*" },
  secrets: { deed: "edit" },
  retention: { deed: "view", group: "*" },
};

/** What one chooses for oneself, and what administrators choose for all. */
export default function SettingsPage() {
  const t = usePageT();
  const { tab = "profile" } = useParams({ strict: false }) as { tab?: Tab };
  const may = useMay();
  const tabs = settingsTabs.filter((s) => {
    const need = needs[s];
    return need === undefined || may(need.deed, need.group);
  });
  const Shown = pages[tab];
  const need = needs[tab];
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
          {need ? (
            <Allowed {...need}>
              <Shown />
            </Allowed>
          ) : (
            <Shown />
          )}
        </div>
      </Suspense>
    </Page>
  );
}
