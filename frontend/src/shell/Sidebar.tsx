import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  Activity,
  Bell,
  BookCheck,
  Bug,
  CalendarClock,
  CalendarDays,
  ClipboardList,
  Gauge,
  LayoutDashboard,
  ListChecks,
  type LucideIcon,
  PanelLeftClose,
  PanelLeftOpen,
  ScrollText,
  Search,
  Server,
  Settings,
  Stamp,
} from "lucide-react";
import { useEffect, useState } from "react";
import { firingIncidents } from "@/api/alerts";
import { approvalsQuery } from "@/api/approvals";
import { groupsQuery, healthQuery, nodesQuery } from "@/api/cluster";
import { jobCount } from "@/api/jobs";
import { livingRuns } from "@/api/runs";
import { IconButton } from "@/components/Button";
import { later } from "@/components/useLater";
import { useT } from "@/i18n";
import { useConnection } from "@/lib/connection";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { setPrefs, usePrefs } from "@/lib/prefs";
import { Account } from "./Account";
import { useShell } from "./context";
import { modifier } from "./keys";
import { Logo } from "./Logo";
import { useMay } from "./may";
import { useHeld } from "./useHeld";

interface ItemProps {
  to:
    | "/"
    | "/jobs"
    | "/runs"
    | "/errors"
    | "/schedule"
    | "/executors"
    | "/cluster"
    | "/calendars"
    | "/logs"
    | "/ledger"
    | "/alerts"
    | "/approvals"
    | "/audit"
    | "/settings";
  /** What makes a link of its address, where that leads on to another page. */
  search?: { range?: "24h" };
  icon: LucideIcon;
  text: string;
  n?: React.ReactNode;
  tone?: "bad" | "warn";
  hint?: string | undefined;
}

function Item({ to, search, icon: Icon, text, n, tone, hint }: ItemProps) {
  return (
    <Link
      to={to}
      search={search ?? {}}
      className="nav"
      activeProps={{ className: "on" }}
      activeOptions={{ exact: to === "/", includeSearch: false }}
    >
      <Icon size={16} aria-hidden />
      <span className="name">{text}</span>
      {n !== undefined && (
        <span className={`n ${tone ?? ""}`} title={hint}>
          {n}
        </span>
      )}
    </Link>
  );
}

/** Whether a page has had time to load: then the shell asks for what nobody misses for a moment, such as a badge. */
function useLoaded(): boolean {
  const [loaded, setLoaded] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLoaded(true), later);
    return () => clearTimeout(timer);
  }, []);
  return loaded;
}

export function Sidebar({ open: isOpen }: { open: boolean }) {
  const t = useT();
  const f = useFormat();
  const { openPalette } = useShell();
  const may = useMay();
  const { narrow, landing } = usePrefs();
  const jobs = useQuery(jobCount({})).data;
  const running = countOf(useQuery(livingRuns).data);
  const groups = useQuery(groupsQuery).data?.items;
  const open = countOf(useQuery(firingIncidents).data);
  const mine =
    useQuery({ ...approvalsQuery, enabled: useLoaded() }).data?.items.filter((a) => a.may).length ?? 0;
  const empty = groups?.filter((g) => g.state === "empty").length ?? 0;
  const instances = groups?.flatMap((g) => g.instances) ?? [];
  const lost = instances.filter((i) => i.state === "lost").length;
  const draining = instances.filter((i) => i.state === "draining").length;
  return (
    <aside className={isOpen ? "side open" : "side"}>
      <div className="brandrow">
        <Link to="/" className="brand">
          <Logo />
          <span>{t.product}</span>
        </Link>
        <IconButton
          icon={narrow ? PanelLeftOpen : PanelLeftClose}
          label={narrow ? t.nav.widen : t.nav.narrow}
          aria-expanded={!narrow}
          className="hide-m"
          onClick={() => setPrefs({ narrow: !narrow })}
        />
      </div>
      <button type="button" className="find" onClick={openPalette}>
        <Search size={15} aria-hidden />
        <span className="grow trunc">{t.nav.search}</span>
        <kbd className="kbd">{modifier}K</kbd>
      </button>
      <nav aria-label={t.nav.label} className="navs">
        <Item
          to="/"
          search={landing === "jobs" ? { range: "24h" } : {}}
          icon={LayoutDashboard}
          text={t.nav.overview}
        />
        <Item
          to="/jobs"
          icon={ListChecks}
          text={t.nav.jobs}
          n={jobs === undefined ? undefined : f.number(jobs)}
        />
        <Item
          to="/runs"
          icon={Activity}
          text={t.nav.runs}
          n={running}
          hint={running && t.nav.runningNow(running)}
        />
        <Item to="/errors" icon={Bug} text={t.nav.errors} />
        <Item to="/schedule" icon={CalendarClock} text={t.nav.schedule} />
        <Item
          to="/executors"
          icon={Server}
          text={t.nav.executors}
          n={lost + draining + empty || undefined}
          tone="warn"
          hint={t.nav.executorsHint(lost, draining, empty)}
        />
        <Item to="/logs" icon={ScrollText} text={t.nav.logs} />
        <Item to="/alerts" icon={Bell} text={t.nav.alerts} n={open} tone="bad" />
        <Item
          to="/approvals"
          icon={Stamp}
          text={t.nav.approvals}
          n={mine ? f.number(mine) : undefined}
          tone="warn"
          hint={t.nav.approvalsHint(mine)}
        />
        <Item to="/ledger" icon={BookCheck} text={t.nav.ledger} />
        <p className="navh">
          <span>{t.nav.administration}</span>
        </p>
        <Item to="/calendars" icon={CalendarDays} text={t.nav.calendars} />
        {may("admin", "*") && <Item to="/audit" icon={ClipboardList} text={t.nav.audit} />}
        <Item to="/cluster" icon={Gauge} text={t.nav.cluster} />
        <Item to="/settings" icon={Settings} text={t.nav.settings} />
      </nav>
      <HealthCard />
      <Account />
    </aside>
  );
}

/** How many things there are, or at least are where they come in pages; undefined of none. */
function countOf(page: { items: unknown[]; next?: string } | undefined): string | undefined {
  const n = page?.items.length;
  return n ? `${n}${page.next ? "+" : ""}` : undefined;
}

/** Whether everything answers and every shard has an owner. */
function HealthCard() {
  const t = useT();
  const { lost } = useConnection();
  const health = useQuery(healthQuery).data;
  const nodes = useQuery(nodesQuery).data;
  const broken = health?.checks.filter((c) => !c.ok) ?? [];
  const owned = nodes ? nodes.shards - nodes.unowned.length : 0;
  const ok = !lost && broken.length === 0 && nodes?.unowned.length === 0;
  const paused = useHeld()(useNow());
  const well = paused ? t.health.paused : t.health.ok;
  const text = lost ? t.health.unreachable : ok ? well : t.health.degraded;
  return (
    <Link to="/cluster" className="health">
      <span className="l">
        <span className={`live ${ok && !paused ? "" : lost || broken.length > 0 ? "bad" : "warn"}`} />
        <b className="trunc">{health || lost ? text : "…"}</b>
      </span>
      <span className="l mut">
        {broken.length > 0 && !lost
          ? t.health.silent(broken.map((c) => t.health.part(c.name)))
          : nodes
            ? `${t.health.nodes(nodes.items.length)} · ${t.health.shards(owned, nodes.shards)}`
            : " "}
      </span>
    </Link>
  );
}
