import { useQuery } from "@tanstack/react-query";
import { CirclePause, Clock, CloudOff, Hourglass, RefreshCw, Unplug, X } from "lucide-react";
import { useEffect, useState } from "react";
import { healthQuery, holdQuery } from "@/api/cluster";
import { historyQuery, isBehind } from "@/api/retention";
import { Button, IconButton } from "@/components/Button";
import { useT } from "@/i18n";
import { clockSkew, serverNow } from "@/lib/clock";
import { noteBehind, useConnection } from "@/lib/connection";
import { formatDuration } from "@/lib/duration";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { useShell } from "./context";

/** At most one line about the whole system, the gravest first. */
export function Banner() {
  const t = useT();
  const f = useFormat();
  const { openEverything } = useShell();
  const connection = useConnection();
  const hold = useQuery(holdQuery).data;
  const health = useQuery(healthQuery).data;
  const now = useNow();
  const away = health?.checks.find((c) => !c.ok && t.banner.away[c.name])?.name;
  const storeAway = away === "log_store";
  const history = useQuery({ ...historyQuery, enabled: storeAway || connection.behind });
  const state = history.data;
  const behind = connection.behind && state && isBehind(state) ? state : undefined;
  useEffect(() => {
    if (state && !history.isFetching && !storeAway && !isBehind(state)) noteBehind(false);
  }, [state, history.isFetching, storeAway]);
  const { versions } = connection;
  // What is only to be known is closed by who knows it: until there is another version, or the page is loaded anew.
  const [dismissed, setDismissed] = useState<string>();
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
        {storeAway && state?.stand_in
          ? t.banner.standIn(f.short(state.stand_in.since, now), f.short(state.stand_in.as_of, now))
          : t.banner.away[away]}
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
        <Button small onClick={openEverything}>
          {t.banner.resume}
        </Button>
      </div>
    );
  }
  if (behind) {
    const left = behind.caught_up_at && Math.max(Date.parse(behind.caught_up_at) - now, 1000);
    return (
      <div className="banner warn" role="status">
        <Hourglass size={15} aria-hidden />
        {t.banner.behind(f.short(behind.as_of, now))}{" "}
        {left ? t.banner.caughtUpIn(formatDuration(left)) : t.banner.notCatchingUp}
      </div>
    );
  }
  if (versions?.other && dismissed !== versions.other) {
    return (
      <div className="banner info" role="status">
        <RefreshCw size={15} aria-hidden />
        <span className="grow">{t.banner.update}</span>
        <Button small onClick={() => location.reload()}>
          {t.banner.reload}
        </Button>
        <IconButton icon={X} size={14} label={t.act.close} onClick={() => setDismissed(versions.other)} />
      </div>
    );
  }
  if (clockSkew() !== 0 && dismissed !== "skew") {
    return (
      <div className="banner info" role="status">
        <Clock size={15} aria-hidden />
        <span className="grow">{t.banner.skew(formatDuration(Math.abs(clockSkew())))}</span>
        <IconButton icon={X} size={14} label={t.act.close} onClick={() => setDismissed("skew")} />
      </div>
    );
  }
  return null;
}
