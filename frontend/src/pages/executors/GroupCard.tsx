import { Link } from "@tanstack/react-router";
import { CirclePause } from "lucide-react";
import { waitingOf } from "@/api/groups";
import type { Group } from "@/api/schema.gen";
import { Pips } from "@/components/Pips";
import { InstanceState, Mark } from "@/components/Status";
import { GroupDot } from "@/components/TaskIcon";
import { usePageT } from "@/i18n";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { InstanceTable } from "./InstanceTable";
import { StartCommand } from "./StartCommand";

/** A group with its instances; small, with their slots alone. */
export function GroupCard({ group, small }: { group: Group; small?: boolean }) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const name = group.executor_group;
  const slots = group.instances.reduce((n, i) => n + i.slots, 0);
  const used = group.instances.reduce((n, i) => n + i.running, 0);
  return (
    <section className="card">
      <div className="h">
        <GroupDot group={name} />
        <h2>
          <Link to="/executors/$group" params={{ group: name }} className="plain">
            {name}
          </Link>
        </h2>
        {group.state !== "online" && <InstanceState state={group.state} pill />}
        {group.pause && (
          <Mark pill tone="warn" icon={CirclePause}>
            {group.pause.until ? t.pause.pausedUntil(f.short(group.pause.until, now)) : t.fleet.pause.paused}
          </Mark>
        )}
        {group.limit !== undefined && <span className="tag">{t.fleet.atOnce(f.number(group.limit))}</span>}
        {group.rate !== undefined && <span className="tag">{t.fleet.perSecond(f.number(group.rate))}</span>}
        {waitingOf(group) > 0 && (
          <span className="tag c-warn">
            {t.fleet.waiting} {f.number(waitingOf(group))}
          </span>
        )}
        <span className="right row g3">
          {small ? (
            <span className="mut">{t.executors.onlineCount(group.instances.length)}</span>
          ) : (
            <>
              <Link to="/jobs" search={{ group: [name] }} className="link">
                {t.nav.jobs}
              </Link>
              <Link to="/runs" search={{ group: name }} className="link">
                {t.nav.runs}
              </Link>
              {slots > 0 && <b className="num">{t.fleet.slots(used, slots)}</b>}
            </>
          )}
        </span>
      </div>
      {group.instances.length === 0 ? (
        <div className="b">
          <p className="sec">{t.fleet.waits}</p>
          <StartCommand group={name} />
        </div>
      ) : small ? (
        <div className="b">
          <div className="row g2 wrap">
            {group.instances.map((i) => (
              <Link
                key={i.instance}
                to="/executors/$group/$instance"
                params={{ group: name, instance: i.instance }}
                aria-label={i.instance}
                title={`${i.instance}: ${t.fleet.slots(i.running, i.slots)}`}
              >
                <Pips used={i.running} slots={i.slots} />
              </Link>
            ))}
          </div>
          <p className="row mut slotsum">
            <span>{t.fleet.slots(used, slots)}</span>
            <b className="right num">{slots > 0 ? f.percent(used / slots) : "—"}</b>
          </p>
        </div>
      ) : (
        <InstanceTable instances={group.instances} />
      )}
    </section>
  );
}
