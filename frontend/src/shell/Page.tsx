import { Link, type LinkProps, useLocation } from "@tanstack/react-router";
import { ChevronRight, Menu as MenuIcon } from "lucide-react";
import { Fragment, type ReactNode, useEffect, useRef } from "react";
import { IconButton } from "@/components/Button";
import { useT } from "@/i18n";
import { Banner } from "./Banner";
import { useShell } from "./context";
import { TopTools } from "./TopTools";

export interface Crumb {
  text: string;
  to?: LinkProps["to"];
  params?: LinkProps["params"];
  search?: LinkProps["search"];
}

interface PageProps {
  /** The way here; the last one is the page's own name. */
  crumbs: Crumb[];
  actions?: ReactNode;
  /** What is above the scrolled part. */
  head?: ReactNode;
  /** The page scrolls its parts itself. */
  fixed?: boolean;
  /** The page's object has a heading of its own below the bar. */
  ownHeading?: boolean;
  children: ReactNode;
}

let visited = "";

/** A page: the bar with its name and actions, and the sheet below. */
export function Page({ crumbs, actions, head, fixed, ownHeading, children }: PageProps) {
  const t = useT();
  const { openNav } = useShell();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const name = crumbs.at(-1)?.text ?? "";
  useEffect(() => {
    document.title = `${name} · ${t.product}`;
  }, [name, t]);
  useEffect(() => {
    // After a navigation the focus goes to the new page's heading, which announces it.
    if (visited !== "" && visited !== pathname)
      main.current?.querySelector("h1")?.focus({ preventScroll: true });
    visited = pathname;
  }, [pathname]);
  return (
    <main className="main" id="main" ref={main}>
      <header className="top">
        <IconButton icon={MenuIcon} label={t.nav.open} className="only-s" onClick={openNav} />
        <nav className="crumb" aria-label={t.nav.crumbs}>
          {crumbs.map((c, i) => (
            <Fragment key={c.text}>
              {i > 0 && <ChevronRight size={14} aria-hidden className="sep" />}
              {c.to ? (
                <Link to={c.to} params={c.params} search={c.search}>
                  {c.text}
                </Link>
              ) : ownHeading ? (
                <b className="trunc">{c.text}</b>
              ) : (
                <h1 tabIndex={-1} className="trunc">
                  {c.text}
                </h1>
              )}
            </Fragment>
          ))}
        </nav>
        <div className="right row g2 actions">{actions}</div>
        <TopTools />
      </header>
      <div className="under">
        <Banner />
        {head}
        <div className={fixed ? "page fixed" : "page"}>{children}</div>
      </div>
    </main>
  );
}
