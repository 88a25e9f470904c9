import { Link, useNavigate } from "@tanstack/react-router";
import { ChevronDown, ChevronRight } from "lucide-react";
import { type RefObject, useEffect, useRef, useState } from "react";
import { HoverCard } from "@/components/HoverCard";
import { JobTitle } from "@/components/JobTitle";
import { GroupDot } from "@/components/TaskIcon";
import { useWidth } from "@/components/useSize";
import { useWindow } from "@/components/useWindow";
import { formatDuration } from "@/lib/duration";
import { offsetMinutes, usePageWords } from "@/lib/format";
import { fireBars, type LaneBar, runBars, stackBars } from "@/lib/lanes";
import { timeLabels, timeTicks } from "@/lib/scale";
import { healthOf } from "@/lib/stats";
import { durationOf, tones } from "@/lib/status";
import { type Lane, noSection } from "@/lib/timeline";
import { useHeld } from "@/shell/useHeld";
import { DensityStrip } from "./DensityStrip";

interface TimelineProps {
  lanes: Lane[];
  /** What the strip above counts: each run and fire once, which may be in several lanes. */
  counted: Lane[];
  /** What the sections are. */
  sections: "group" | "owner" | "tag";
  from: number;
  to: number;
  now: number;
  /** Sections whose lanes are one. */
  closed: string[];
  /** A section is to be closed, or opened. */
  onSection(section: string): void;
  /** It was dragged by so many ms. */
  onPan(ms: number): void;
  /** It is to show less (-1) or more (1) of time. */
  onZoom(by: -1 | 1): void;
  /** A fire of a job that is ahead was chosen. */
  onFire(job: string, fireTime: string): void;
}

/** How much of the width the names have. */
const namesOf = (width: number) => (width < 600 ? 128 : 208);
const row = 31;
const bar = 16;

/** A wheel turns in many small steps: one zoom within so many ms. */
const zoomRest = 250;

type Row = { kind: "section"; section: string; n: number } | { kind: "lane"; lane: Lane };

/** Lanes of bars over time: solid up to now, dashed beyond. */
export function Timeline({
  lanes,
  counted,
  sections,
  from: began,
  to: ends,
  now,
  closed,
  onSection,
  onPan,
  onZoom,
  onFire,
}: TimelineProps) {
  const { t, f } = usePageWords();
  const [box, width] = useWidth<HTMLDivElement>();
  const scroller = useRef<HTMLDivElement>(null);
  const [over, setOver] = useState<{ lane: Lane; bar: LaneBar; y: number }>();
  const drag = useRef<{ x: number; moved: boolean }>(undefined);
  const zoomed = useRef(0);
  useNoPageZoom(scroller);
  const names = namesOf(width);
  const plot = Math.max(0, width - names - 16);
  // By how many pixels it is being dragged; the page is told once it is let go.
  const [shift, setShift] = useState(0);
  const dragged = plot > 0 ? (shift / plot) * (ends - began) : 0;
  const [from, to] = [began - dragged, ends - dragged];
  const x = (at: number) => ((at - from) / (to - from)) * plot;
  const rows = rowsOf(lanes);
  const view = useWindow(scroller, rows.length, row);
  const nowX = x(now);
  const isNowShown = nowX >= 0 && nowX <= plot;
  const offset = offsetMinutes(f.zone, from) * 60_000;
  const { labels, step } = timeLabels(
    { from, to, left: names, width: plot },
    offset,
    f,
    isNowShown ? { at: now, x: names + nowX, text: f.time(now), anchor: "middle" } : undefined,
  );
  const ticks = timeTicks(from, to, step, offset);
  return (
    <div className="timeline" ref={box}>
      <div className="taxis">
        <svg width={Math.max(0, width)} height={28} aria-hidden="true">
          {labels.map((l) => (
            <text key={l.at} x={l.x} y={18} textAnchor={l.anchor} className="axis">
              {l.text}
            </text>
          ))}
          {isNowShown && (
            <g>
              <rect x={names + nowX - 29} y={5} width={58} height={19} rx={5} className="nowtag" />
              <text x={names + nowX} y={18} textAnchor="middle" className="axis nowtext">
                {f.time(now)}
              </text>
            </g>
          )}
        </svg>
      </div>
      <DensityStrip lanes={counted} from={from} to={to} now={now} left={names} width={plot} />
      <div
        className="tbody"
        ref={scroller}
        onWheel={(e) => {
          if (!e.ctrlKey || Date.now() - zoomed.current < zoomRest) return;
          zoomed.current = Date.now();
          onZoom(e.deltaY < 0 ? -1 : 1);
        }}
        onPointerDown={(e) => {
          if (e.button === 0 && !(e.target instanceof Element && e.target.closest("a, button")))
            drag.current = { x: e.clientX, moved: false };
        }}
        onPointerMove={(e) => {
          const was = drag.current;
          if (!was) return;
          if (!was.moved && Math.abs(e.clientX - was.x) > 4) {
            was.moved = true;
            e.currentTarget.setPointerCapture(e.pointerId);
          }
          if (was.moved) setShift(e.clientX - was.x);
        }}
        onPointerUp={(e) => {
          const was = drag.current;
          drag.current = undefined;
          setShift(0);
          if (was?.moved && plot > 0) onPan(((was.x - e.clientX) / plot) * (ends - began));
        }}
        onPointerCancel={() => {
          drag.current = undefined;
          setShift(0);
        }}
      >
        <div style={{ height: rows.length * row }} className="trows">
          {ticks.map((at) => (
            <i key={at} className="tline" style={{ left: names + x(at) }} />
          ))}
          {nowX < plot && (
            <i
              className="tfuture"
              style={{ left: names + Math.max(0, nowX), width: plot - Math.max(0, nowX) + 16 }}
            />
          )}
          {rows.slice(view.from, view.to).map((r, i) => {
            const top = (view.from + i) * row;
            if (r.kind === "section") {
              const isOpen = !closed.includes(r.section);
              return (
                <button
                  type="button"
                  key={`s ${r.section}`}
                  className="tgroup"
                  style={{ top, paddingRight: plot }}
                  aria-expanded={isOpen}
                  title={t.plan.closeGroup}
                  onClick={() => onSection(r.section)}
                >
                  {isOpen ? <ChevronDown size={13} aria-hidden /> : <ChevronRight size={13} aria-hidden />}
                  {sections === "group" && <GroupDot group={r.section} />}
                  <b className="trunc">
                    {sections !== "group" && r.section === noSection ? t.plan.noneOf[sections] : r.section}
                  </b>{" "}
                  <span className="mut num">{r.n > 1 && r.n}</span>
                </button>
              );
            }
            return (
              <LaneRow
                key={r.lane.key}
                lane={r.lane}
                withGroup={sections !== "group"}
                top={top}
                names={names}
                plot={plot}
                now={now}
                x={x}
                onOver={(b) =>
                  setOver(b && { lane: r.lane, bar: b, y: top - (scroller.current?.scrollTop ?? 0) })
                }
                moved={() => drag.current?.moved ?? false}
                onFire={onFire}
              />
            );
          })}
          {nowX >= 0 && nowX <= plot && <i className="tnow" style={{ left: names + nowX }} />}
        </div>
      </div>
      {over && (
        <HoverCard x={names + over.bar.x + over.bar.width / 2} y={Math.max(4, over.y - 14)} width={width}>
          <Card lane={over.lane} bar={over.bar} now={now} />
        </HoverCard>
      )}
    </div>
  );
}

/** The wheel with Ctrl zooms the timeline, and not the page. React's own listeners cannot prevent that. */
function useNoPageZoom(ref: RefObject<HTMLElement | null>) {
  useEffect(() => {
    const el = ref.current;
    const keep = (e: WheelEvent) => e.ctrlKey && e.preventDefault();
    el?.addEventListener("wheel", keep, { passive: false });
    return () => el?.removeEventListener("wheel", keep);
  }, [ref]);
}

function rowsOf(lanes: Lane[]): Row[] {
  const rows: Row[] = [];
  const counts = new Map<string, number>();
  for (const { section } of lanes) counts.set(section, (counts.get(section) ?? 0) + 1);
  let section = "";
  for (const lane of lanes) {
    if (lane.section !== section) {
      section = lane.section;
      rows.push({ kind: "section", section, n: counts.get(section) ?? 0 });
    }
    rows.push({ kind: "lane", lane });
  }
  return rows;
}

interface LaneRowProps {
  lane: Lane;
  /** The section does not tell the group. */
  withGroup: boolean;
  top: number;
  names: number;
  plot: number;
  now: number;
  x(at: number): number;
  onOver(bar: LaneBar | undefined): void;
  /** It is being dragged, so that a click is none. */
  moved(): boolean;
  onFire: TimelineProps["onFire"];
}

function LaneRow({ lane, withGroup, top, names, plot, now, x, onOver, moved, onFire }: LaneRowProps) {
  const { t, f } = usePageWords();
  const navigate = useNavigate();
  const held = useHeld();
  const usual = healthOf(lane.runs).p50 ?? 0;
  const past = runBars(lane.runs, now, x).filter((b) => b.x + b.width > 0 && b.x < plot);
  const levels = stackBars(past);
  const high = levels === 1 ? bar : (row - 7) / levels;
  const future = fireBars(
    lane.fires.filter((at) => Date.parse(at) > now),
    usual,
    x,
    held,
  ).filter((b) => b.x < plot && b.x + b.width > 0);
  const last = lane.runs[0];
  const label = t.plan.bar(
    `${lane.group}/${lane.name}`,
    last ? t.status[last.status] : t.state.none,
    lane.fires[0] ? f.minute(lane.fires[0]) : t.state.none,
  );
  return (
    <div className="tlane" style={{ top }}>
      <LaneName lane={lane} withGroup={withGroup} width={names} />
      <svg width={plot} height={row} role="img" aria-label={label}>
        {past.map((b) => {
          const tone = b.bad ? "bad" : b.run ? tones[b.run.status] : "idle";
          const exact = b.run && b.n === 1 ? tones[b.run.status] : tone;
          return (
            <rect
              key={`${b.run?.run_id} ${b.x}`}
              x={b.x}
              y={(row - high * levels) / 2 + b.level * high}
              width={b.width}
              height={levels === 1 ? high : high - 1}
              rx={Math.min(3, b.width / 2, high / 3)}
              className={`tbar m-${exact}`}
              onPointerEnter={() => onOver(b)}
              onPointerLeave={() => onOver(undefined)}
              onClick={() =>
                b.run && !moved() && void navigate({ to: "/runs/$runId", params: { runId: b.run.run_id } })
              }
            />
          );
        })}
        {future.map((b) => (
          <rect
            key={b.x}
            x={b.x + 0.5}
            y={(row - bar) / 2 + 0.5}
            width={Math.max(3, b.width - 1)}
            height={bar - 1}
            rx={Math.min(3, b.width / 2)}
            className={`hollow${b.off ? " off" : ""}${lane.offset === undefined || b.fire === undefined ? "" : " tbar"}`}
            onPointerEnter={() => onOver(b)}
            onPointerLeave={() => onOver(undefined)}
            onClick={() => {
              if (lane.offset === undefined || b.fire === undefined || moved()) return;
              onFire(`${lane.group}/${lane.name}`, new Date(b.fire - lane.offset).toISOString());
            }}
          />
        ))}
      </svg>
    </div>
  );
}

function LaneName({
  lane: { of, group, name },
  withGroup,
  width,
}: Pick<LaneRowProps, "lane" | "withGroup"> & { width: number }) {
  const look = {
    className: "tname trunc",
    style: { width },
    title: withGroup && of === "job" ? `${group}/${name}` : name,
  };
  if (of === "job")
    return (
      <Link to="/jobs/$group/$name" params={{ group, name }} {...look}>
        <JobTitle job={`${group}/${name}`} />
        {withGroup && <span className="mut"> {group}</span>}
      </Link>
    );
  if (of === "group")
    return (
      <Link to="/executors/$group" params={{ group }} {...look}>
        {name}
      </Link>
    );
  if (of === "instance")
    return (
      <Link to="/executors/$group/$instance" params={{ group, instance: name }} {...look}>
        {name}
      </Link>
    );
  return (
    <span {...look} className="tname trunc mut">
      {name}
    </span>
  );
}

function Card({ lane, bar: b, now }: { lane: Lane; bar: LaneBar; now: number }) {
  const { t, f } = usePageWords();
  const duration = b.run && durationOf(b.run, now);
  return (
    <>
      <b>{b.run ? <JobTitle job={b.run.job} /> : lane.name}</b>
      {b.n > 1 && <div>{t.plan.merged(b.n)}</div>}
      {b.run ? (
        <>
          <div>
            <i className={`b-${tones[b.run.status]}`} />
            {t.status[b.run.status]}{" "}
            {duration !== undefined && <span className="num">{formatDuration(duration)}</span>}
          </div>
          <div className="k">
            {f.short(b.run.fire_time, now)} {b.run.instance && `· ${b.run.instance}`}
          </div>
        </>
      ) : (
        <div>{b.off ? t.pause.wouldSkip : t.overview.scheduled}</div>
      )}
    </>
  );
}
