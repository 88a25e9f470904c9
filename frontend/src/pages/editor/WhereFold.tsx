import { useQuery } from "@tanstack/react-query";
import { groupsQuery } from "@/api/cluster";
import type { Job, Map as Pieces } from "@/api/schema.gen";
import { Choice, NumberField, Pairs, TextField } from "@/components/fields";
import { Segments } from "@/components/Segments";
import { useEditorT } from "@/i18n";
import { refOf } from "@/lib/jobref";
import { Fold, useSaid } from "./Fold";
import { type SectionProps, without } from "./Section";

type Route = NonNullable<Job["route"]>;

/** In the order in which people meet them. */
const routes = Object.keys({
  any: true,
  round_robin: true,
  random: true,
  least_recently_used: true,
  least_frequently_used: true,
  consistent_hash: true,
  first: true,
  last: true,
  failover: true,
  busyover: true,
  broadcast: true,
} satisfies Record<Route, true>) as Route[];

const priorities = ["high", "normal", "low"] as const;

type Shape = "whole" | "broadcast" | "pieces" | "split";

function shapeOf(doc: Job): Shape {
  if (doc.map) return doc.map.split ? "split" : "pieces";
  return doc.route === "broadcast" ? "broadcast" : "whole";
}

/** Which executors do a run, and whether it is one piece of work or many. */
export function WhereFold({ doc, onChange, errors }: SectionProps) {
  const t = useEditorT();
  const w = t.editor.where;
  const said = useSaid();
  const shape = shapeOf(doc);
  const { group } = refOf(doc.job);
  const instances =
    (useQuery(groupsQuery).data?.items ?? []).find((g) => g.executor_group === group)?.instances ?? [];
  const labels = Object.entries(doc.labels ?? {});
  const fitting = instances.filter((i) => labels.every(([k, v]) => i.labels?.[k] === v));
  const set = (change: Partial<Job>) => {
    const next = without({ ...doc, ...change });
    if (next.route === "any") delete next.route;
    if (next.succeeds_if === "all") delete next.succeeds_if;
    onChange(next);
  };
  const toShape = (next: Shape) => {
    const map: Pieces | undefined =
      next === "pieces" ? { pieces: 8 } : next === "split" ? { split: true } : undefined;
    const route = next === "broadcast" ? "broadcast" : doc.route === "broadcast" ? undefined : doc.route;
    set({ map, route, at_once: undefined, succeeds_if: next === "whole" ? undefined : doc.succeeds_if });
  };
  const setMap = (change: Partial<Pieces>) => set({ map: without({ ...doc.map, ...change }) });
  return (
    <Fold
      title={w.title}
      hint={w.hint}
      said={[
        ...(shape === "whole" ? [] : [{ value: w.shapes[shape] }]),
        ...(doc.route && doc.route !== "broadcast" ? [{ value: w.routes[doc.route] ?? doc.route }] : []),
        ...said({
          priority: doc.priority && w.priorities[doc.priority],
          labels: labels.map(([k, v]) => `${k}=${v}`).join(", "),
        }),
      ]}
    >
      <Segments
        label={w.title}
        value={shape}
        options={(["whole", "broadcast", "pieces", "split"] as const).map((s) => ({
          value: s,
          label: w.shapes[s],
        }))}
        onChange={toShape}
      />
      <p className="sec">{w.shapeWords[shape]}</p>
      <div className="two">
        {shape !== "broadcast" && (
          <Choice
            label={w.route}
            value={doc.route ?? "any"}
            options={routes
              .filter((r) => r !== "broadcast")
              .map((r) => ({ value: r, label: w.routes[r] ?? r }))}
            hint={w.routeWords[doc.route ?? "any"]}
            error={errors.get("route")}
            onChange={(route) => set({ route })}
          />
        )}
        <Choice
          label={w.priority}
          value={doc.priority ?? "normal"}
          options={priorities.map((p) => ({ value: p, label: w.priorities[p] }))}
          hint={w.priorityHint}
          error={errors.get("priority")}
          onChange={(priority) => set({ priority: priority === "normal" ? undefined : priority })}
        />
        <Pairs
          label={w.labels}
          between="="
          placeholder="zone=eu"
          hint={labels.length > 0 ? w.fitting(fitting.length, instances.length) : w.labelsHint}
          error={errors.get("labels")}
          value={doc.labels}
          onChange={(next) => set({ labels: next })}
        />
      </div>
      {shape !== "whole" && (
        <div className="three">
          {shape === "pieces" && (
            <NumberField
              label={w.pieces}
              min={1}
              max={10_000}
              value={doc.map?.pieces}
              error={errors.get("map.pieces")}
              onChange={(pieces) => setMap({ pieces })}
            />
          )}
          <NumberField
            label={w.atOnce}
            min={1}
            max={10_000}
            placeholder={w.anyNumber}
            value={(shape === "broadcast" ? doc.at_once : doc.map?.at_once) || undefined}
            error={errors.get(shape === "broadcast" ? "at_once" : "map.at_once")}
            onChange={(at_once) => (shape === "broadcast" ? set({ at_once }) : setMap({ at_once }))}
          />
          <TextField
            label={w.succeedsIf}
            mono
            placeholder="all"
            value={doc.succeeds_if ?? ""}
            hint={w.succeedsHint}
            error={errors.get("succeeds_if")}
            onChange={(succeeds_if) => set({ succeeds_if })}
          />
        </div>
      )}
    </Fold>
  );
}
