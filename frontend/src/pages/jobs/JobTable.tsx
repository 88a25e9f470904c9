import { Link, useNavigate } from "@tanstack/react-router";
import {
  CirclePause,
  Copy,
  Ellipsis,
  FileDown,
  ListTree,
  Pause,
  Pencil,
  Play,
  SlidersHorizontal,
  Trash2,
  Zap,
} from "lucide-react";
import { lazy, memo, type RefObject, Suspense, useEffect, useRef, useState } from "react";
import type { SortColumn } from "@/api/joblist";
import type { JobItem } from "@/api/schema.gen";
import { IconButton } from "@/components/Button";
import { Menu, MenuItem, MenuLine } from "@/components/Menu";
import { SortHead } from "@/components/SortHead";
import { TaskIcon, taskKind } from "@/components/TaskIcon";
import { useLater } from "@/components/useLater";
import { useRowKeys } from "@/components/useRowKeys";
import { useWindow } from "@/components/useWindow";
import { serverNow } from "@/lib/clock";
import type { JobColumn, Sort } from "@/lib/columns";
import { runsElsewhere } from "@/lib/elsewhere";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { pauseOf } from "@/lib/pause";
import { usePhone } from "@/lib/phone";
import { useComplain, usePause, useRunNow, useRunSoon } from "@/shell/actions";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { cellOf, downFirst, figures, isSortColumn } from "./columns";
import { exportJobs } from "./exporting";

// They are large, and few open them at once. While one loads, keys would still act on the page.
const loadRun = () => import("../job/RunDialog").then((m) => ({ default: m.RunDialog }));
const loadDelete = () => import("../job/DeleteDialog").then((m) => ({ default: m.DeleteDialog }));
const loadPause = () => import("../job/PauseDialog").then((m) => ({ default: m.PauseDialog }));
const RunDialog = lazy(loadRun);
const DeleteDialog = lazy(loadDelete);
const PauseDialog = lazy(loadPause);
const loadDialogs = () => Promise.all([loadRun(), loadDelete(), loadPause()]);

/** What one is asked about before a job runs or is paused. */
type Asking = "run" | "pause";

const rowHeight = 46;
/** On a phone a row is a card, as styles/phone.css has it. */
const cardHeight = 82;

interface JobTableProps {
  items: JobItem[];
  /** What is shown of each job, beside its name. */
  columns: readonly JobColumn[];
  sort: Sort<SortColumn> | undefined;
  onSort(sort: Sort<SortColumn> | undefined): void;
  scroller: RefObject<HTMLDivElement | null>;
  selected: ReadonlySet<string>;
  onSelect(selected: ReadonlySet<string>): void;
  /** Selects all jobs that match, those too that are not loaded. */
  onSelectAll(): Promise<void>;
  /** The last row has come near. */
  onEnd(): void;
}

export function JobTable({
  items,
  columns,
  sort,
  onSort,
  scroller,
  selected,
  onSelect,
  onSelectAll,
  onEnd,
}: JobTableProps) {
  const { t } = usePageWords();
  const navigate = useNavigate();
  const view = useWindow(scroller, items.length, usePhone() ? cardHeight : rowHeight);
  const run = useRunNow();
  const runSoon = useRunSoon();
  const pause = usePause();
  const [deleting, setDeleting] = useState<string>();
  const [asking, setAsking] = useState<{ item: JobItem; what: Asking }>();
  const anchor = useRef<number>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: onEnd is new with every render; what matters is the position
  useEffect(() => {
    const el = scroller.current;
    if (!el) return;
    // What is below the window waits until somebody moves towards it.
    const left = el.scrollHeight - el.scrollTop - el.clientHeight;
    if (left < 100 || (el.scrollTop > 0 && left < 800)) onEnd();
  }, [view.top, view.height, items.length]);

  useLater(loadDialogs);

  // Rows are drawn again only when they change, so what they call must not keep an old selection.
  const chosen = useRef(selected);
  chosen.current = selected;
  const toggle = (row: number, range: boolean) => {
    const next = new Set(chosen.current);
    const name = items[row]?.definition.job ?? "";
    const on = !next.has(name);
    const [from, to] =
      range && anchor.current !== undefined
        ? [Math.min(anchor.current, row), Math.max(anchor.current, row)]
        : [row, row];
    for (const item of items.slice(from, to + 1)) {
      if (on) next.add(item.definition.job);
      else next.delete(item.definition.job);
    }
    anchor.current = row;
    onSelect(next);
  };
  const at = (row: number) => items[row]?.definition;
  const togglePause = (d: JobItem["definition"] | undefined) =>
    d && pause.mutate({ job: d.job, paused: pauseOf(d, serverNow()) === undefined });
  const may = useMay();
  const mayAt = (deed: "operate" | "edit", row: number) => may(deed, refOf(at(row)?.job ?? "").group);
  const complain = useComplain();
  const actions = {
    enter: (row: number) => void navigate({ to: "/jobs/$group/$name", params: refOf(at(row)?.job ?? "") }),
    x: (row: number) => toggle(row, false),
    r: (row: number) => mayAt("operate", row) && !runsElsewhere(at(row)) && runSoon(at(row)?.job ?? ""),
    p: (row: number) => mayAt("operate", row) && togglePause(at(row)),
    e: (row: number) =>
      mayAt("edit", row) &&
      void navigate({ to: "/jobs/$group/$name/edit", params: refOf(at(row)?.job ?? "") }),
    d: (row: number) => mayAt("edit", row) && setDeleting(at(row)?.job),
  };
  const rows = useRowKeys(items.length, actions, (from, to) => {
    const names = [from, to].flatMap((row) => at(row)?.job ?? []);
    anchor.current = to;
    onSelect(new Set([...chosen.current, ...names]));
  });
  useKeys({ ...rows.bindings, "mod+a": () => void onSelectAll().catch(complain) });

  const all = items.length > 0 && items.every((i) => selected.has(i.definition.job));
  return (
    <>
      <table className="tbl jobs">
        <thead>
          <tr>
            <th className="ckc">
              <input
                type="checkbox"
                className={!all && selected.size > 0 ? "ck mixed" : "ck"}
                aria-label={t.act.selectAll}
                checked={all}
                onChange={() => onSelect(all ? new Set() : new Set(items.map((i) => i.definition.job)))}
              />
            </th>
            <SortHead by="name" sort={sort} onSort={onSort}>
              {t.joblist.columns.job}
            </SortHead>
            {columns.map((column) =>
              isSortColumn(column) ? (
                <SortHead
                  key={column}
                  by={column}
                  sort={sort}
                  down={downFirst.has(column)}
                  right={figures.has(column)}
                  onSort={onSort}
                >
                  {t.joblist.columns[column]}
                </SortHead>
              ) : (
                <th key={column} className={figures.has(column) ? "r" : undefined}>
                  {t.joblist.columns[column]}
                </th>
              ),
            )}
            <th>
              <span className="sr">{t.joblist.columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {view.before > 0 && <tr style={{ height: view.before }} aria-hidden />}
          {items.slice(view.from, view.to).map((item, i) => (
            <Row
              key={item.definition.job}
              item={item}
              columns={columns}
              row={view.from + i}
              marked={rows.marked === view.from + i}
              selected={selected.has(item.definition.job)}
              onToggle={(e) => toggle(view.from + i, e)}
              onRun={() => runSoon(item.definition.job)}
              onPause={() => togglePause(item.definition)}
              onAsk={(what) => setAsking({ item, what })}
              onDelete={() => setDeleting(item.definition.job)}
            />
          ))}
          {view.after > 0 && <tr style={{ height: view.after }} aria-hidden />}
        </tbody>
      </table>
      <Suspense>
        {asking?.what === "run" && (
          <RunDialog
            item={asking.item}
            onClose={() => setAsking(undefined)}
            onRun={(params) => run.mutateAsync({ job: asking.item.definition.job, params })}
          />
        )}
        {asking?.what === "pause" && (
          <PauseDialog
            item={asking.item}
            onClose={() => setAsking(undefined)}
            onPause={(note, until) =>
              pause.mutateAsync({ job: asking.item.definition.job, paused: true, note, until })
            }
          />
        )}
        {deleting && <DeleteDialog job={deleting} onClose={() => setDeleting(undefined)} />}
      </Suspense>
    </>
  );
}

interface RowProps {
  item: JobItem;
  columns: readonly JobColumn[];
  row: number;
  marked: boolean;
  selected: boolean;
  onToggle(range: boolean): void;
  onRun(): void;
  onPause(): void;
  onAsk(what: Asking): void;
  onDelete(): void;
}

const Row = memo(
  function Row({
    item,
    columns,
    row,
    marked,
    selected,
    onToggle,
    onRun,
    onPause,
    onAsk,
    onDelete,
  }: RowProps) {
    const words = usePageWords();
    const { t } = words;
    const navigate = useNavigate();
    const d = item.definition;
    const ref = refOf(d.job);
    const open = (e: React.MouseEvent) => {
      if (e.target instanceof Element && e.target.closest("a,button,input,label")) return;
      void navigate({ to: "/jobs/$group/$name", params: ref });
    };
    const may = useMay();
    const [operates, edits] = [may("operate", ref.group), may("edit", ref.group)];
    const paused = pauseOf(d, serverNow()) !== undefined;
    return (
      <tr data-row={row} className={`click${selected ? " sel" : ""}${marked ? " mark" : ""}`} onClick={open}>
        <td className="ckc">
          <input
            type="checkbox"
            className="ck"
            aria-label={t.act.select(d.job)}
            checked={selected}
            onChange={(e) => onToggle(e.nativeEvent instanceof MouseEvent && e.nativeEvent.shiftKey)}
          />
        </td>
        <td>
          <span className="row g2">
            <TaskIcon task={d.task} />
            <span className="jn">
              <Link
                to="/jobs/$group/$name"
                params={ref}
                className="trunc name"
                dir="auto"
                title={d.description}
              >
                {d.title || ref.name}
              </Link>
              <span className="trunc">
                {d.title ? d.job : ref.group} ·{" "}
                {d.steps ? t.steps.steps(d.steps.length) : t.job.taskKinds[taskKind(d.task)]}
              </span>
            </span>
          </span>
        </td>
        {columns.map((column) => (
          <td key={column} data-col={column} className={figures.has(column) ? "r num" : undefined}>
            {cellOf(column, item, words)}
          </td>
        ))}
        <td className="r">
          <span className="acts">
            {!runsElsewhere(d) && (
              <IconButton icon={Zap} size={15} label={t.act.run} keys="R" may={operates} onClick={onRun} />
            )}
            <IconButton
              icon={paused ? Play : Pause}
              size={15}
              label={paused ? t.act.resume : t.act.pause}
              keys="P"
              may={operates}
              onClick={onPause}
            />
            <Menu
              trigger={
                <button type="button" className="ic" aria-label={`${t.act.more}: ${d.job}`}>
                  <Ellipsis size={16} aria-hidden />
                </button>
              }
            >
              {edits && (
                <>
                  <MenuItem
                    icon={Pencil}
                    keys="E"
                    onSelect={() => void navigate({ to: "/jobs/$group/$name/edit", params: ref })}
                  >
                    {t.act.edit}
                  </MenuItem>
                  <MenuItem
                    icon={Copy}
                    onSelect={() => void navigate({ to: "/jobs/new", search: { from: d.job } })}
                  >
                    {t.act.duplicate}
                  </MenuItem>
                </>
              )}
              {operates && !runsElsewhere(d) && (
                <MenuItem icon={SlidersHorizontal} onSelect={() => onAsk("run")}>
                  {t.act.runWith}
                </MenuItem>
              )}
              {operates && !paused && (
                <MenuItem icon={CirclePause} onSelect={() => onAsk("pause")}>
                  {t.joblist.pauseWith}
                </MenuItem>
              )}
              <MenuItem
                icon={ListTree}
                onSelect={() =>
                  void navigate({ to: "/jobs/$group/$name/$tab", params: { ...ref, tab: "runs" } })
                }
              >
                {t.act.viewRuns}
              </MenuItem>
              <MenuItem icon={FileDown} onSelect={() => void exportJobs([d])}>
                {t.joblist.export}
              </MenuItem>
              {edits && (
                <>
                  <MenuLine />
                  <MenuItem icon={Trash2} danger onSelect={onDelete}>
                    {t.act.remove}
                  </MenuItem>
                </>
              )}
            </Menu>
          </span>
        </td>
      </tr>
    );
  },
  (a, b) =>
    a.item === b.item &&
    a.row === b.row &&
    a.marked === b.marked &&
    a.selected === b.selected &&
    a.columns.join() === b.columns.join(),
);
