import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { channelsQuery, failingChannels } from "@/api/alerts";
import { Skeleton } from "@/components/Panel";
import { usePageT } from "@/i18n";
import { alertTabs } from "@/router";
import { Allowed } from "@/shell/Allowed";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import "@/styles/phone.css";

const Incidents = lazy(() => import("./Incidents"));
const Rules = lazy(() => import("./Rules"));
const Channels = lazy(() => import("./Channels"));
const Silences = lazy(() => import("./Silences"));

/** What is worth a message, to whom, and what came of it. */
export default function AlertsPage() {
  const t = usePageT();
  const { tab = "open" } = useParams({ strict: false }) as { tab?: (typeof alertTabs)[number] };
  const isAdmin = useMay()("admin", "*");
  const channels = useQuery({ ...channelsQuery, enabled: isAdmin }).data?.items ?? [];
  const failing = failingChannels(channels).length;
  return (
    <Page
      crumbs={[{ text: t.nav.alerts }]}
      head={
        <nav className="tabs" aria-label={t.nav.alerts}>
          {alertTabs
            .filter((x) => x !== "channels" || isAdmin)
            .map((x) => (
              <Link
                key={x}
                to="/alerts/$tab"
                params={{ tab: x }}
                className={x === tab ? "tab on" : "tab"}
                aria-current={x === tab ? "page" : undefined}
              >
                {t.alerts.tabs[x]}
                {x === "channels" && failing > 0 && (
                  <span className="n bad" title={t.alerts.failing(failing)}>
                    {failing}
                  </span>
                )}
              </Link>
            ))}
        </nav>
      }
    >
      <Suspense fallback={<Skeleton />}>
        {tab === "open" && <Incidents />}
        {tab === "rules" && <Rules />}
        {tab === "channels" && (
          <Allowed deed="admin" group="*">
            <Channels />
          </Allowed>
        )}
        {tab === "silences" && <Silences />}
      </Suspense>
    </Page>
  );
}
