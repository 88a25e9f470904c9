import { useState } from "react";
import type { Job } from "@/api/schema.gen";
import { CopyIconButton } from "@/components/Copy";
import { Segments } from "@/components/Segments";
import { usePageT } from "@/i18n";
import { scheduleInWords, zoneOf } from "@/lib/words";
import { crontabOf, linesFor, type Way, type Where, ways } from "./paste";
import "./pings.css";

/** What to put where the job runs, in the way of each scheduler. */
export function Lines({ job, where, hint }: { job: Job; where: Where; hint?: string }) {
  const t = usePageT();
  const w = t.pings;
  const [way, setWay] = useState<Way>("crontab");
  const text = linesFor(way, job, where);
  const scheduled =
    way !== "crontab" && way !== "curl"
      ? ""
      : crontabOf(job)
        ? w.cronZone(zoneOf(job.schedule))
        : w.noCron(scheduleInWords(job.schedule, t));
  return (
    <div className="pinglines">
      <Segments
        label={w.lines}
        value={way}
        options={ways.map((x) => ({ value: x, label: w.ways[x] }))}
        onChange={setWay}
      />
      <div className="pasted">
        <pre className="code" tabIndex={0}>
          {text}
        </pre>
        <CopyIconButton text={text} label={w.copyLines} />
      </div>
      <p className="hint">
        {w.wayHints[way]} {scheduled} {hint}
      </p>
    </div>
  );
}
