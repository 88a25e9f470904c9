import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CirclePause, TriangleAlert } from "lucide-react";
import { healthQuery, holdQuery } from "@/api/cluster";
import { Button } from "@/components/Button";
import { Card } from "@/components/Panel";
import { Mark } from "@/components/Status";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { useShell } from "@/shell/context";
import { useMay } from "@/shell/may";

/** The switch for everything. */
export function Switch() {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const operates = useMay()("operate", "*");
  const { openEverything } = useShell();
  const hold = useQuery(holdQuery).data;
  const silent = useQuery(healthQuery).data?.checks.some((c) => c.name === "bus" && !c.ok) ?? false;
  if (!hold) return null;
  return (
    <Card title={t.cluster.switch}>
      <div className="b stack">
        {hold.paused ? (
          <>
            <Mark tone="warn" icon={CirclePause}>
              {t.cluster.heldNow}
            </Mark>
            <p className="sec">
              {hold.effective_from && t.cluster.since(f.short(hold.effective_from, now))}{" "}
              {hold.until && t.pause.heldUntil(f.short(hold.until, now))}{" "}
              {hold.author && t.banner.heldBy(hold.author)} {hold.note}
            </p>
            <Button look="primary" may={operates} onClick={openEverything}>
              {t.overview.resumeAll}
            </Button>
          </>
        ) : (
          <>
            {silent ? (
              <Mark tone="warn" icon={TriangleAlert}>
                {t.cluster.busSilent}
              </Mark>
            ) : (
              <Mark tone="ok" icon={CircleCheck}>
                {t.cluster.running}
              </Mark>
            )}
            <Button look="danger" icon={CirclePause} may={operates} onClick={openEverything}>
              {t.overview.pauseAll}
            </Button>
          </>
        )}
      </div>
    </Card>
  );
}
