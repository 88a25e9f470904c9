import type { Map as Pieces, Step } from "@/api/schema.gen";
import { Choice, NumberField, TextField } from "@/components/fields";
import { useEditorT } from "@/i18n";
import { without } from "./Section";

const shapes = ["whole", "over", "pieces", "split", "broadcast"] as const;
type Shape = (typeof shapes)[number];

function shapeOf(step: Step): Shape {
  if (step.map) return step.map.split ? "split" : step.map.over === undefined ? "pieces" : "over";
  return step.route === "broadcast" ? "broadcast" : "whole";
}

const maps: Record<Shape, Pieces | undefined> = {
  whole: undefined,
  over: { over: "${results.list}" },
  pieces: { pieces: 8 },
  split: { split: true },
  broadcast: undefined,
};

interface StepPiecesProps {
  step: Step;
  /** By the path within the step. */
  errors: ReadonlyMap<string, string>;
  onChange(change: Partial<Step>): void;
}

/** Whether a step is one piece of work or many: for each element of a list, for one. */
export function StepPieces({ step, errors, onChange }: StepPiecesProps) {
  const t = useEditorT();
  const w = t.editor.where;
  const shape = shapeOf(step);
  const setMap = (change: Partial<Pieces>) => onChange({ map: without({ ...step.map, ...change }) });
  const toShape = (next: Shape) =>
    onChange({
      map: maps[next],
      route: next === "broadcast" ? "broadcast" : step.route === "broadcast" ? undefined : step.route,
      at_once: undefined,
      succeeds_if: next === "whole" ? undefined : step.succeeds_if,
    });
  const broadcast = shape === "broadcast";
  return (
    <div className="three">
      <Choice
        label={t.run.pieces}
        value={shape}
        error={errors.get("map")}
        options={shapes.map((s) => ({ value: s, label: s === "over" ? t.steps.edit.forEach : w.shapes[s] }))}
        onChange={toShape}
      />
      {shape === "over" && (
        <TextField
          label={t.steps.edit.list}
          mono
          placeholder="${results.list.files}"
          value={step.map?.over ?? ""}
          error={errors.get("map.over") ?? errors.get("map.pieces")}
          onChange={(over) => onChange({ map: { ...step.map, over } })}
        />
      )}
      {shape === "pieces" && (
        <NumberField
          label={w.pieces}
          min={1}
          max={10_000}
          value={step.map?.pieces}
          error={errors.get("map.pieces")}
          onChange={(pieces) => setMap({ pieces })}
        />
      )}
      {shape !== "whole" && (
        <>
          <NumberField
            label={w.atOnce}
            min={1}
            max={10_000}
            placeholder={w.anyNumber}
            value={(broadcast ? step.at_once : step.map?.at_once) || undefined}
            error={errors.get(broadcast ? "at_once" : "map.at_once")}
            onChange={(at_once) => (broadcast ? onChange({ at_once }) : setMap({ at_once }))}
          />
          <TextField
            label={w.succeedsIf}
            mono
            placeholder="all"
            value={step.succeeds_if ?? ""}
            hint={w.succeedsHint}
            error={errors.get("succeeds_if")}
            onChange={(succeeds_if) => onChange({ succeeds_if })}
          />
        </>
      )}
    </div>
  );
}
