import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { CalendarClock, Waypoints } from "lucide-react";
import { useState } from "react";
import { refOf } from "@/api/jobs";
import { fireCounts, firesQuery } from "@/api/schedule";
import { Button } from "@/components/Button";
import { Kpi } from "@/components/Kpi";
import { Card, Empty } from "@/components/Panel";
import { Table } from "@/components/Table";
import { Waiting } from "@/components/Waiting";
import { useWords, wallToInstant } from "@/lib/format";
import { useNow } from "@/lib/now";
import { GroupFilter } from "@/shell/GroupFilter";
import { useMay } from "@/shell/may";
import { Page } from "@/shell/Page";
import { OffsetsDialog } from "./OffsetsDialog";
import { ScheduleTabs } from "./Tabs";

const quarter = 900_000;
const days = 7;
const perDay = 96;

/** When work fires in the coming week, by quarters of an hour. */
export default function LoadPage() {
  const { t, f } = useWords();
  const navigate = useNavigate({ from: "/schedule/load" });
  const { group } = useSearch({ from: "/schedule/load" });
  const now = useNow();
  const [chosen, setChosen] = useState<number>();
  const mayEdit = useMay()("edit");
  const [suggesting, setSuggesting] = useState(false);
  const [over, setOver] = useState<number>();
  const today = new Intl.DateTimeFormat("en-CA", { timeZone: f.zone, dateStyle: "short" })
    .format(now)
    .slice(0, 10);
  const start = wallToInstant(`${today}T00:00`, f.zone);
  const current = Math.floor((now - start) / quarter);
  const from = start + current * quarter;
  const end = start + days * perDay * quarter;
  const iso = (ms: number) => new Date(ms).toISOString();
  const parts = days * perDay - current;
  // The range excludes its beginning and includes its end; a fire on the full quarter belongs to the one that begins.
  const query = useQuery(fireCounts({ from: iso(from - 1), to: iso(end - 1), group }, parts, `load ${from}`));
  const counts = [...Array.from({ length: current }, () => undefined), ...(query.data?.counts ?? [])];
  const known = query.data?.counts ?? [];
  const most = Math.max(1, ...known);
  const total = known.reduce((a, b) => a + b, 0);
  const busiest = counts.indexOf(most);
  const least = Math.min(...known);
  const quietest = counts.indexOf(least);
  const onTheHour = known.filter((_, i) => (current + i) % 4 === 0).reduce((a, b) => a + b, 0);
  const shown = chosen ?? (busiest >= 0 ? busiest : undefined);
  const at = (i: number) => start + i * quarter;
  const when = (i: number) => `${f.day(at(i))} ${f.minute(at(i))}`;
  // Where all parts are much alike, none is made to look busy.
  const flat = most - least < most / 4;
  const shade = (n: number | undefined) => {
    if (n === undefined) return "past";
    if (n === 0) return "0";
    return flat ? "2" : String(1 + Math.round(((n - least) / (most - least)) * 4));
  };
  const move = (e: React.KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: perDay, ArrowUp: -perDay }[e.key];
    if (step === undefined) return;
    e.preventDefault();
    const next = (shown ?? current) + step;
    if (next >= current && next < days * perDay) setChosen(next);
  };
  return (
    <Page
      crumbs={[{ text: t.plan.title, to: "/schedule" }, { text: t.plan.load }]}
      head={<ScheduleTabs on="load" />}
    >
      <div className="pad">
        <div className="filters flat">
          <GroupFilter
            group={group}
            onChange={(next) => void navigate({ search: { group: next }, replace: true })}
          />
        </div>
        {!query.data ? (
          <Waiting on={query} />
        ) : total === 0 ? (
          <Empty icon={CalendarClock} title={t.plan.none} hint={t.plan.noneHint} />
        ) : (
          <>
            <div className="kpis four">
              <Kpi
                fit
                label={t.plan.planned}
                value={f.number(total)}
                foot={query.data.complete ? t.plan.ofJobs(query.data.jobs) : t.plan.incomplete}
              />
              <Kpi fit label={t.plan.busiest} value={when(busiest)} foot={t.plan.firesIn(most)} />
              <Kpi fit label={t.plan.quietest} value={when(quietest)} foot={t.plan.firesIn(least)} />
              <Kpi
                fit
                label={t.plan.onTheHour}
                value={f.percent(onTheHour / total)}
                foot={t.plan.onTheHourHint}
              />
            </div>
            <Card
              className="spaced"
              title={t.plan.loadTitle}
              note={t.plan.loadHint}
              aside={
                <span className="leg">
                  {t.plan.fewer}
                  {[0, 1, 2, 3, 4, 5].map((i) => (
                    <i key={i} className={`heat h-${i}`} />
                  ))}
                  {t.plan.more}
                </span>
              }
            >
              <div className="sideways b">
                <div
                  className="heatmap"
                  tabIndex={0}
                  role="application"
                  aria-label={`${t.plan.loadTitle}: ${shown === undefined ? "" : `${when(shown)}, ${t.plan.firesIn(counts[shown] ?? 0)}`}`}
                  onKeyDown={move}
                >
                  {Array.from({ length: days }, (_, d) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a day is its number
                    <div key={d} className="heatrow">
                      <span className="mut">{f.day(at(d * perDay + 48))}</span>
                      {Array.from({ length: perDay }, (_, q) => {
                        const i = d * perDay + q;
                        return (
                          <i
                            key={i}
                            className={`heat h-${shade(counts[i])}${i === shown ? " on" : ""}${i === current ? " now" : ""}`}
                            onPointerEnter={() => setOver(i)}
                            onPointerLeave={() => setOver(undefined)}
                            onClick={() => i >= current && setChosen(i)}
                          />
                        );
                      })}
                    </div>
                  ))}
                  <div className="heatrow axis-row mut num" aria-hidden>
                    <span />
                    {[0, 3, 6, 9, 12, 15, 18, 21].map((h) => (
                      <span
                        key={h}
                        style={{ gridColumn: "span 12" }}
                      >{`${String(h).padStart(2, "0")}:00`}</span>
                    ))}
                  </div>
                </div>
                <p className="sec num over-note" aria-live="polite">
                  {over !== undefined && counts[over] !== undefined
                    ? `${when(over)} · ${t.plan.firesIn(counts[over] ?? 0)}`
                    : " "}
                </p>
              </div>
            </Card>
            {shown !== undefined && (
              <Drivers
                key={shown}
                from={at(shown)}
                group={group}
                title={t.plan.drivers(when(shown))}
                onSuggest={mayEdit ? () => setSuggesting(true) : undefined}
              />
            )}
            {suggesting && shown !== undefined && (
              <OffsetsDialog
                from={at(shown) - 1}
                to={at(shown) + quarter - 1}
                group={group}
                onClose={() => setSuggesting(false)}
              />
            )}
          </>
        )}
      </div>
    </Page>
  );
}

interface DriversProps {
  from: number;
  group: string | undefined;
  title: string;
  /** Looks for jobs that could fire later; absent for who may save none. */
  onSuggest: (() => void) | undefined;
}

/** The jobs that fire within a quarter of an hour, those that fire most first. */
function Drivers({ from, group, title, onSuggest }: DriversProps) {
  const { t, f } = useWords();
  const iso = (ms: number) => new Date(ms).toISOString();
  const { data } = useQuery(
    firesQuery({ from: iso(from - 1), to: iso(from + quarter - 1), group }, 500, `cell ${from}`),
  );
  const jobs = [...(data?.items ?? [])].sort((a, b) => b.fires.length - a.fires.length).slice(0, 12);
  return (
    <Card
      title={title}
      aside={
        onSuggest && (
          <Button small icon={Waypoints} onClick={onSuggest}>
            {t.plan.suggest}
          </Button>
        )
      }
    >
      {jobs.length === 0 ? (
        data && <Empty title={t.plan.none} />
      ) : (
        <Table
          heads={[t.jobs.columns.job, t.jobs.group, { right: t.plan.fires }, { right: t.jobs.columns.next }]}
          compact
        >
          {jobs.map(({ job, fires, more }) => (
            <tr key={job}>
              <td>
                <Link to="/jobs/$group/$name" params={refOf(job)} className="name">
                  {refOf(job).name}
                </Link>
              </td>
              <td className="sec">{refOf(job).group}</td>
              <td className="r num">
                {f.number(fires.length)}
                {more && "+"}
              </td>
              <td className="r num sec">{fires[0] && f.time(fires[0])}</td>
            </tr>
          ))}
        </Table>
      )}
    </Card>
  );
}
