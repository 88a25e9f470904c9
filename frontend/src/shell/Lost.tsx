import { Compass, TriangleAlert, Unplug } from "lucide-react";
import { useEffect } from "react";
import { Button } from "@/components/Button";
import { Empty } from "@/components/Panel";
import { useT } from "@/i18n";
import { isUnloaded, mayReload, reloadOnce, untilServed } from "@/lib/unloaded";
import { useShell } from "./context";
import { Page } from "./Page";

/** A page whose files cannot be had: the server is away, or has others after an upgrade. */
function Unloaded() {
  const t = useT();
  useEffect(() => {
    let current = true;
    void untilServed(() => current).then(() => {
      if (current) reloadOnce();
    });
    return () => {
      current = false;
    };
  }, []);
  return (
    <Page crumbs={[{ text: t.error.unloaded }]}>
      <Empty icon={Unplug} title={t.error.unloaded} hint={t.error.unloadedHint} />
    </Page>
  );
}

/** A path that is no page. */
export function Missing() {
  const t = useT();
  const { openPalette } = useShell();
  return (
    <Page crumbs={[{ text: t.error.page }]}>
      <Empty icon={Compass} title={t.error.page} hint={t.error.pageHint}>
        <Button look="primary" onClick={openPalette}>
          {t.nav.search}
        </Button>
      </Empty>
    </Page>
  );
}

/** A page that threw: our own fault. The rest of the console stays alive. */
export function Crashed({ error }: { error: unknown }) {
  const t = useT();
  if (isUnloaded(error) && mayReload()) return <Unloaded />;
  return (
    <Page crumbs={[{ text: t.error.crashed }]}>
      <Empty
        icon={TriangleAlert}
        title={t.error.crashed}
        hint={<code className="mono">{String(error)}</code>}
      >
        <Button look="primary" onClick={() => location.reload()}>
          {t.error.reload}
        </Button>
      </Empty>
    </Page>
  );
}
