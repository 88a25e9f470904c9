import type { Run } from "@/api/schema.gen";
import { parseDuration } from "./duration";
import { refOf } from "./jobref";
import { beganAt, durationOf, isFailure } from "./status";

/** What lanes are of, or what stands above those of jobs. */
export const groupings = ["job", "group", "instance", "owner", "tag"] as const;
export type Grouping = (typeof groupings)[number];

/** A row of the timeline: a job, an executor, a group, or all of a section that is not its own lane. */
export interface Lane {
  key: string;
  group: string;
  /** What it stands below: a group, an owner or a tag; "" if nothing. */
  section: string;
  name: string;
  /** What its name leads to, if that has a page. */
  of: "job" | "instance" | "group" | "rest";
  /** The newest first. */
  runs: Run[];
  fires: string[];
  /** From a fire time to when it is due, in ms; of a job. */
  offset?: number;
}

/** What a job will fire. */
export interface Planned {
  job: string;
  offset: string;
  fires: string[];
}

/** One lane for each job that ran or will fire, by group and name. */
export function jobLanes(runs: Run[], planned: Planned[]): Lane[] {
  const lanes = new Map<string, Lane>();
  const lane = (job: string): Lane => {
    const ref = refOf(job);
    const known = lanes.get(job) ?? { key: job, of: "job", section: ref.group, ...ref, runs: [], fires: [] };
    lanes.set(job, known);
    return known;
  };
  for (const run of runs) lane(run.job).runs.push(run);
  for (const p of planned) {
    const of = lane(p.job);
    of.fires = p.fires;
    of.offset = parseDuration(p.offset) ?? 0;
  }
  return [...lanes.values()].sort((a, b) => a.key.localeCompare(b.key));
}

/** One lane for each executor that ran something, and below those of a group what the group will have to do. */
export function instanceLanes(runs: Run[], planned: Planned[], plan: string): Lane[] {
  const lanes = new Map<string, Lane>();
  const lane = (of: "instance" | "rest", group: string, name: string): Lane => {
    const key = `${group} ${of === "rest" ? 1 : 0} ${name}`;
    const known = lanes.get(key) ?? { key, of, group, section: group, name, runs: [], fires: [] };
    lanes.set(key, known);
    return known;
  };
  for (const run of runs)
    if (run.instance) lane("instance", refOf(run.job).group, run.instance).runs.push(run);
  for (const p of planned) lane("rest", refOf(p.job).group, plan).fires.push(...p.fires);
  for (const l of lanes.values()) l.fires.sort();
  return [...lanes.values()].sort((a, b) => a.key.localeCompare(b.key));
}

/** One lane for each group, with all that its jobs have. */
export function groupLanes(lanes: Lane[]): Lane[] {
  const sections = lanes.map((l) => l.section);
  return closeSections(lanes, sections, "").map((lane) => ({
    ...lane,
    key: lane.group,
    section: "",
    name: lane.group,
    of: "group" as const,
  }));
}

/** The section of jobs without an owner or a tag, as the API names what is not there. It comes last. */
export const noSection = "none";

/** The lanes of jobs below each of their owners or tags; one of several tags is there as often. */
export function sectionLanes(lanes: Lane[], sectionsOf: (job: string) => string[] | undefined): Lane[] {
  return lanes
    .flatMap((lane) => {
      const sections = sectionsOf(lane.key) ?? [];
      return (sections.length > 0 ? sections : [noSection]).map((section) => ({
        ...lane,
        key: `${section} ${lane.key}`,
        section,
      }));
    })
    .sort((a, b) => compareSections(a, b) || a.key.localeCompare(b.key));
}

function compareSections(a: Lane, b: Lane): number {
  return (
    Number(a.section === noSection) - Number(b.section === noSection) || a.section.localeCompare(b.section)
  );
}

export const orders = ["name", "next", "busy"] as const;
export type Order = (typeof orders)[number];

/** The lanes of each section by name, by which fires next, or by how long their runs took together. */
export function orderLanes(lanes: Lane[], by: Order, now: number): Lane[] {
  if (by === "name") return lanes;
  const rank = new Map(lanes.map((l) => [l, by === "next" ? nextOf(l, now) : -workOf(l, now)]));
  return [...lanes].sort(
    (a, b) => compareSections(a, b) || (rank.get(a) ?? 0) - (rank.get(b) ?? 0) || a.key.localeCompare(b.key),
  );
}

function nextOf(lane: Lane, now: number): number {
  return lane.fires.map((at) => Date.parse(at)).find((at) => at > now) ?? Number.MAX_VALUE;
}

function workOf(lane: Lane, now: number): number {
  return lane.runs.reduce((sum, r) => sum + (durationOf(r, now) ?? 0), 0);
}

/** How far apart what a lane has fired and will fire is, in ms: the usual distance. Undefined of one that does so once. */
export function paceOf(lane: Lane): number | undefined {
  const at = [...lane.runs.map((r) => r.fire_time), ...lane.fires]
    .map((x) => Date.parse(x))
    .sort((a, b) => a - b);
  const gaps = at.slice(1).map((x, i) => x - (at[i] ?? x));
  gaps.sort((a, b) => a - b);
  return gaps[gaps.length >> 1];
}

/** All lanes of the sections that are closed, as one each. */
export function closeSections(lanes: Lane[], closed: string[], name: string): Lane[] {
  const all: Lane[] = [];
  for (const lane of lanes) {
    const last = all.at(-1);
    if (!closed.includes(lane.section)) all.push(lane);
    else if (last?.section === lane.section) {
      last.runs = [...last.runs, ...lane.runs];
      last.fires = [...last.fires, ...lane.fires];
    } else
      all.push({
        key: `${lane.section} all`,
        group: lane.section,
        section: lane.section,
        name,
        of: "rest",
        runs: lane.runs,
        fires: lane.fires,
      });
  }
  for (const lane of all) if (lane.key === `${lane.section} all`) lane.fires.sort();
  return all;
}

/** A part of the time that the timeline shows: what began in it, and what will. */
export interface Density {
  runs: number;
  failed: number;
  fires: number;
}

/** How much falls into each of so many equal parts of a range. */
export function densityOf(lanes: Lane[], from: number, to: number, now: number, parts: number): Density[] {
  const all = Array.from({ length: parts }, (): Density => ({ runs: 0, failed: 0, fires: 0 }));
  const at = (ms: number) => all[Math.floor(((ms - from) / (to - from)) * parts)];
  for (const lane of lanes) {
    for (const run of lane.runs) {
      const part = at(Date.parse(beganAt(run) ?? run.fire_time));
      if (!part) continue;
      part.runs += run.count;
      if (isFailure(run.status)) part.failed += run.count;
    }
    for (const fire of lane.fires) {
      const ms = Date.parse(fire);
      const part = ms > now ? at(ms) : undefined;
      if (part) part.fires++;
    }
  }
  return all;
}
