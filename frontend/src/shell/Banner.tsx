import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CirclePause, Clock, CloudOff, RefreshCw, Unplug } from "lucide-react";
import { useRef } from "react";
import { healthQuery, holdQuery, setHold, versionQuery } from "@/api/cluster";
import { Button } from "@/components/Button";
import { useT } from "@/i18n";
import { clockSkew, serverNow } from "@/lib/clock";
import { useConnection } from "@/lib/connection";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";

/** At most one line about the whole system, the gravest first. */
export function Banner() {
  const t = useT();
  const f = useFormat();
  const client = useQueryClient();
  const connection = useConnection();
  const hold = useQuery(holdQuery).data;
  const health = useQuery(healthQuery).data;
  const away = health?.checks
    .filter((c) => !c.ok)
    .map((c) => t.banner.away[c.name])
    .find((text) => text !== undefined);
  const version = useQuery(versionQuery).data?.version;
  const loaded = useRef(version);
  loaded.current ??= version;
  const resume = useMutation({
    mutationFn: () => setHold(false, ""),
    onSuccess: () => client.invalidateQueries(),
  });
  if (connection.lost) {
    return (
      <div className="banner bad" role="status">
        <CloudOff size={15} aria-hidden />
        {t.banner.unreachable} {connection.lastAnswer ? f.time(connection.lastAnswer) : t.state.none}
      </div>
    );
  }
  if (away) {
    return (
      <div className="banner bad" role="status">
        <Unplug size={15} aria-hidden />
        {away}
      </div>
    );
  }
  if (hold?.paused) {
    return (
      <div className="banner warn" role="status">
        <CirclePause size={15} aria-hidden />
        <span className="grow">
          <b>{t.banner.held}</b> {hold.until && t.pause.heldUntil(f.short(hold.until, serverNow()))}{" "}
          {hold.author && t.banner.heldBy(hold.author)} {hold.note}
        </span>
        <Button small busy={resume.isPending} onClick={() => resume.mutate()}>
          {t.banner.resume}
        </Button>
      </div>
    );
  }
  if (version && loaded.current && version !== loaded.current) {
    return (
      <div className="banner info" role="status">
        <RefreshCw size={15} aria-hidden />
        <span className="grow">{t.banner.update}</span>
        <Button small onClick={() => location.reload()}>
          {t.banner.reload}
        </Button>
      </div>
    );
  }
  if (clockSkew() !== 0) {
    return (
      <div className="banner info" role="status">
        <Clock size={15} aria-hidden />
        {t.banner.skew(formatDuration(Math.abs(clockSkew())))}
      </div>
    );
  }
  return null;
}
