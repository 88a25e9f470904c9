import {
  FileDown,
  History,
  type LucideIcon,
  Pause,
  Play,
  SlidersHorizontal,
  Tag,
  Trash2,
  X,
  Zap,
} from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { allMatching, type JobFilter, namesMatching } from "@/api/jobs";
import type { JobItem } from "@/api/schema.gen";
import type { Deed } from "@/api/session";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { runsElsewhere } from "@/lib/elsewhere";
import { useComplain } from "@/shell/actions";
import { useKeys } from "@/shell/keys";
import { useMay } from "@/shell/may";
import { exportJobs } from "./exporting";
import type { Action } from "./Review";

const loadReview = () => import("./Review").then((m) => ({ default: m.Review }));
const Review = lazy(loadReview);
const ChangeDialog = lazy(() => import("./change/ChangeDialog"));
const ManyDialog = lazy(() => import("@/pages/backfill/ManyDialog"));

interface BulkProps {
  filter: JobFilter;
  /** How many jobs match the filter. */
  total: number;
  /** Those of the selected jobs that are loaded. */
  known: JobItem[];
  selected: ReadonlySet<string>;
  onSelect(selected: ReadonlySet<string>): void;
}

/** Of each job the server judges whether one may; here it is whether one may with any. */
const actions: { action: Action; icon: LucideIcon; deed: Deed }[] = [
  { action: "run", icon: Zap, deed: "operate" },
  { action: "pause", icon: Pause, deed: "operate" },
  { action: "resume", icon: Play, deed: "operate" },
  { action: "edit", icon: Tag, deed: "edit" },
  { action: "remove", icon: Trash2, deed: "edit" },
];

/** What can be done to all selected jobs at once, after a review of what it will do. */
export function Bulk({ filter, total, known, selected, onSelect }: BulkProps) {
  const t = usePageT();
  const complain = useComplain();
  const may = useMay();
  const [action, setAction] = useState<Action>();
  const [opened, setOpened] = useState<"change" | "backfill">();
  const any = selected.size > 0;
  const allElsewhere =
    any && known.length === selected.size && known.every((item) => runsElsewhere(item.definition));
  /** Why something cannot be done with any of the selected jobs. */
  const whyNot = (deed: Deed, runs: boolean) =>
    !may(deed) ? t.signIn.needs : runs && allElsewhere ? t.pings.allElsewhere : undefined;
  useEffect(() => {
    if (any) loadReview().catch(() => undefined); // the error shows when somebody opens it
  }, [any]);
  const clear = () => onSelect(new Set());
  const nameOf = (of: Action) => (of === "edit" ? t.joblist.tagged : t.act[of]);
  useKeys({ escape: clear });

  const save = async () => {
    try {
      const loaded = new Map(known.map((item) => [item.definition.job, item.definition]));
      const all = [...selected].every((job) => loaded.has(job))
        ? [...selected].flatMap((job) => loaded.get(job) ?? [])
        : (await allMatching(filter)).filter((d) => selected.has(d.job));
      await exportJobs(all);
      toast({ text: t.joblist.exported(all.length) });
    } catch (error) {
      complain(error);
    }
  };
  return (
    <>
      <div className="bulk" role="toolbar" aria-label={t.joblist.selected(selected.size)}>
        <span className="num">{t.joblist.selected(selected.size)}</span>
        {selected.size < total && (
          <button
            type="button"
            className="soft"
            onClick={() => void namesMatching(filter).then(onSelect, complain)}
          >
            {t.act.selectAll} {total}
          </button>
        )}
        <i />
        {actions.map(({ action, icon: Icon, deed }) => (
          <button
            key={action}
            type="button"
            className={action === "remove" ? "bad" : undefined}
            disabled={whyNot(deed, action === "run") !== undefined}
            title={whyNot(deed, action === "run")}
            aria-label={nameOf(action)}
            onClick={() => setAction(action)}
          >
            <Icon size={15} aria-hidden />
            <span className="hide-m">{nameOf(action)}</span>
          </button>
        ))}
        <button
          type="button"
          disabled={whyNot("edit", false) !== undefined}
          title={whyNot("edit", false)}
          aria-label={t.jobPatch.act}
          onClick={() => setOpened("change")}
        >
          <SlidersHorizontal size={15} aria-hidden />
          <span className="hide-m">{t.jobPatch.act}</span>
        </button>
        <button
          type="button"
          disabled={whyNot("operate", true) !== undefined}
          title={whyNot("operate", true)}
          aria-label={t.bulkBackfill.act}
          onClick={() => setOpened("backfill")}
        >
          <History size={15} aria-hidden />
          <span className="hide-m">{t.bulkBackfill.act}</span>
        </button>
        <button type="button" aria-label={t.joblist.export} onClick={() => void save()}>
          <FileDown size={15} aria-hidden />
          <span className="hide-m">{t.joblist.export}</span>
        </button>
        <i />
        <button type="button" aria-label={t.act.clear} onClick={clear}>
          <X size={15} aria-hidden />
        </button>
      </div>
      {opened === "change" && (
        <Suspense>
          <ChangeDialog jobs={[...selected]} onClose={() => setOpened(undefined)} onDone={clear} />
        </Suspense>
      )}
      {opened === "backfill" && (
        <Suspense>
          <ManyDialog jobs={[...selected]} onClose={() => setOpened(undefined)} />
        </Suspense>
      )}
      {action && (
        <Suspense>
          <Review action={action} jobs={[...selected]} onClose={() => setAction(undefined)} onDone={clear} />
        </Suspense>
      )}
    </>
  );
}
