import { ChevronDown, ChevronUp } from "lucide-react";
import { Button, IconButton } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { usePageT } from "@/i18n";
import type { ColumnsButtonProps } from "./ColumnsButton";

/** Which columns are shown, in which order. The table behind it follows at once. */
export default function ColumnsDialog<C extends string>({
  columns: { shown, all, choose },
  labels,
  onClose,
}: ColumnsButtonProps<C> & { onClose(): void }) {
  const t = usePageT();
  const toggle = (column: C) => {
    const without = shown.filter((c) => c !== column);
    if (without.length < shown.length) choose(without.length > 0 ? without : shown);
    else choose([...shown, column]);
  };
  const move = (from: number, by: number) => {
    const next = [...shown];
    const [moved] = next.splice(from, 1);
    if (moved) next.splice(from + by, 0, moved);
    choose(next);
  };
  const hidden = all.filter((c) => !shown.includes(c));
  return (
    <Dialog
      title={t.views.columns}
      hint={t.views.columnsHint}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={() => choose(undefined)}>{t.views.usual}</Button>
          <Button look="primary" onClick={onClose}>
            {t.act.done}
          </Button>
        </>
      }
    >
      <ul className="list">
        {[...shown, ...hidden].map((column, i) => (
          <li key={column} className="li">
            <label className="row g2 grow">
              <input
                type="checkbox"
                className="ck"
                checked={i < shown.length}
                onChange={() => toggle(column)}
              />
              {labels[column]}
            </label>
            {i < shown.length && (
              <>
                <IconButton
                  icon={ChevronUp}
                  label={t.views.earlier(labels[column])}
                  disabled={i === 0}
                  onClick={() => move(i, -1)}
                />
                <IconButton
                  icon={ChevronDown}
                  label={t.views.later(labels[column])}
                  disabled={i === shown.length - 1}
                  onClick={() => move(i, 1)}
                />
              </>
            )}
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
