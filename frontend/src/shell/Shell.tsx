import { useQueryClient } from "@tanstack/react-query";
import { Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from "react";
import { UseTitle } from "@/components/JobTitle";
import { Tips } from "@/components/Tips";
import { Toasts } from "@/components/Toasts";
import { useLater } from "@/components/useLater";
import { useT } from "@/i18n";
import { kiosk } from "@/lib/kiosk";
import { isLive, setLive } from "@/lib/live-switch";
import { getPrefs, setPrefs } from "@/lib/prefs";
import { noteVisit } from "@/lib/recent";
import { ShellContext } from "./context";
import { keepTyped, useKeys } from "./keys";
import { useMay } from "./may";
import { SessionGate } from "./SessionGate";
import { Sidebar } from "./Sidebar";
import { toggleTheme } from "./TopTools";
import { useRotation } from "./useRotation";
import { useTitle } from "./useTitle";
import { nextZone } from "./zones";

const loadPalette = () => import("./palette/Palette");
const Palette = lazy(loadPalette);
const Help = lazy(() => import("./Help"));
const EverythingDialog = lazy(() => import("./EverythingDialog"));

/** The frame of every page: navigation, palette, help, toasts, and the keys that work everywhere. */
export function Shell() {
  return (
    <SessionGate>
      <Frame />
    </SessionGate>
  );
}

function Frame() {
  const t = useT();
  const navigate = useNavigate();
  const client = useQueryClient();
  const { pathname } = useLocation();
  useRotation(kiosk);
  const mayEdit = useMay()("edit");
  const [layer, setLayer] = useState<"palette" | "help" | "nav" | "everything">();
  const close = () => setLayer(undefined);
  const openPalette = useCallback(() => {
    keepTyped();
    setLayer("palette");
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a navigation closes the drawer
  useEffect(() => setLayer(undefined), [pathname]);
  useEffect(() => noteVisit(pathname), [pathname]);

  useKeys({
    "mod+k": () => (layer === "palette" ? close() : openPalette()),
    "?": () => setLayer("help"),
    "g o": () => void navigate({ to: "/" }),
    "g j": () => void navigate({ to: "/jobs" }),
    "g r": () => void navigate({ to: "/runs" }),
    "g s": () => void navigate({ to: "/schedule" }),
    "g e": () => void navigate({ to: "/executors" }),
    "g a": () => void navigate({ to: "/alerts" }),
    "g l": () => void navigate({ to: "/logs" }),
    "g f": () => void navigate({ to: "/errors" }),
    "g p": () => void navigate({ to: "/approvals" }),
    "g b": () => void navigate({ to: "/ledger" }),
    "g c": () => void navigate({ to: "/cluster" }),
    n: () => mayEdit && void navigate({ to: "/jobs/new" }),
    ".": () => void client.refetchQueries({ type: "active" }),
    L: () => setLive(!isLive()),
    z: () => setPrefs({ zone: nextZone(getPrefs().zone) }),
    t: toggleTheme,
    "/": () => document.querySelector<HTMLInputElement>("input[data-filter]")?.focus(),
  });

  useLater(loadPalette);

  const controls = useMemo(
    () => ({
      openPalette,
      openHelp: () => setLayer("help"),
      openNav: () => setLayer("nav"),
      openEverything: () => setLayer("everything"),
    }),
    [openPalette],
  );
  return (
    <UseTitle value={useTitle}>
      <ShellContext value={controls}>
        <a className="skip" href={`${pathname}#main`} onClick={(e) => focusMain(e)}>
          {t.skip}
        </a>
        <div className={kiosk ? "shell kiosk" : "shell"}>
          {!kiosk && <Sidebar open={layer === "nav"} />}
          {layer === "nav" && (
            <button type="button" className="drawer-scrim" aria-label={t.act.close} onClick={close} />
          )}
          <Outlet />
        </div>
        <Suspense>
          {layer === "palette" && <Palette onClose={close} />}
          {layer === "help" && <Help onClose={close} />}
          {layer === "everything" && <EverythingDialog onClose={close} />}
        </Suspense>
        <Toasts />
        <Tips />
      </ShellContext>
    </UseTitle>
  );
}

function focusMain(e: React.MouseEvent) {
  e.preventDefault();
  document.querySelector<HTMLElement>("main h1")?.focus();
}
