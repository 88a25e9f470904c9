import { type ClipboardEvent, type KeyboardEvent, useState } from "react";
import { Button } from "@/components/Button";
import { useEditorT } from "@/i18n";
import { type CellName, cellNames, formatCells, parseCells } from "@/lib/cron";

interface CronCellsProps {
  value: string;
  onChange(expression: string): void;
  /** Something is wrong with it: in this cell, if it is a single one. */
  bad: boolean;
  badCell?: CellName;
}

/** The fields of an expression, a cell each. A whole expression that is pasted into one fills them all. */
export function CronCells({ value, onChange, bad, badCell }: CronCellsProps) {
  const t = useEditorT();
  const [focused, setFocused] = useState<CellName>();
  // What is being typed: an empty cell is filled in when it is left, not before.
  const [draft, setDraft] = useState<{ cell: CellName; text: string }>();
  const cells = parseCells(value) ?? {};
  const names = cellNames(value.trim().split(/\s+/).length);

  const set = (cell: CellName, text: string) => {
    const clean = text.replace(/\s+/g, "");
    setDraft({ cell, text: clean });
    if (clean !== "") onChange(formatCells({ ...cells, [cell]: clean }));
  };
  const onPaste = (e: ClipboardEvent) => {
    const text = e.clipboardData.getData("text").trim();
    if (!parseCells(text) && !text.startsWith("@")) return;
    e.preventDefault();
    setDraft(undefined);
    onChange(text);
  };
  const onKeyDown = (e: KeyboardEvent<HTMLInputElement>) => {
    const { selectionStart, selectionEnd, value: text } = e.currentTarget;
    const step =
      e.key === "ArrowLeft" && selectionEnd === 0
        ? -1
        : e.key === "ArrowRight" && selectionStart === text.length
          ? 1
          : e.key === " "
            ? 1
            : 0;
    if (step === 0) return;
    e.preventDefault();
    const inputs = [...(e.currentTarget.closest(".cron")?.querySelectorAll("input") ?? [])];
    const next = inputs[inputs.indexOf(e.currentTarget) + step];
    next?.focus();
    next?.select();
  };
  const withSeconds = "second" in cells;
  const { second: _s, year: _y, ...five } = cells;
  const toUnix = () =>
    onChange(formatCells(Object.fromEntries(Object.entries(five).map(([k, v]) => [k, v === "?" ? "*" : v]))));
  const toQuartz = () => {
    // Quartz wants one of the two days to be open.
    const open = five.weekday === "*" ? { weekday: "?" } : five.day === "*" ? { day: "?" } : {};
    onChange(formatCells({ second: "0", ...five, ...open }));
  };
  return (
    <div>
      <div
        className={bad && !badCell ? "cron bad" : "cron"}
        style={{ gridTemplateColumns: `repeat(${names.length}, minmax(0, 1fr))` }}
        onPaste={onPaste}
      >
        {names.map((name) => (
          <label
            key={name}
            className={
              `${focused === name ? "on" : ""}${badCell === name ? " wrong" : ""}`.trim() || undefined
            }
          >
            <input
              value={draft?.cell === name ? draft.text : (cells[name] ?? "")}
              spellCheck={false}
              autoComplete="off"
              aria-invalid={(badCell ? badCell === name : bad) || undefined}
              onChange={(e) => set(name, e.target.value)}
              onFocus={() => setFocused(name)}
              onBlur={() => {
                if (draft?.cell === name && draft.text === "")
                  onChange(formatCells({ ...cells, [name]: "" }));
                setDraft(undefined);
                setFocused(undefined);
              }}
              onKeyDown={onKeyDown}
            />
            <span>{t.editor.cells[name]}</span>
          </label>
        ))}
      </div>
      <div className="cronfoot">
        <span className="mut">{withSeconds ? t.editor.dialectQuartz : t.editor.dialectUnix}</span>
        <Button look="ghost" small aria-pressed={withSeconds} onClick={withSeconds ? toUnix : toQuartz}>
          {withSeconds ? "−" : "+"} {t.editor.addSeconds}
        </Button>
        <span className="right mono mut">{focused && t.editor.cellHints[focused]}</span>
      </div>
    </div>
  );
}
