import * as Dialog from "@radix-ui/react-dialog";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  Activity,
  Bell,
  BookCheck,
  CalendarClock,
  CalendarDays,
  ClipboardList,
  CornerDownLeft,
  Gauge,
  LayoutDashboard,
  ListChecks,
  type LucideIcon,
  Pause,
  Pencil,
  Play,
  Plus,
  ScrollText,
  Search,
  Server,
  Settings,
  Zap,
} from "lucide-react";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useState } from "react";
import { jobSearch, refOf } from "@/api/jobs";
import { useT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { useLang } from "@/lib/format";
import { pauseOf } from "@/lib/pause";
import { failures } from "@/lib/status";
import { scheduleInWords } from "@/lib/words";
import { usePause, useRunNow } from "./actions";
import { useMay } from "./may";

interface Entry {
  id: string;
  section: string;
  icon: LucideIcon;
  text: string;
  aside?: string;
  go(): void;
}

const runId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Finds jobs, runs, pages and actions by a few letters; Enter does the marked one. */
export default function Palette({ onClose }: { onClose(): void }) {
  const t = useT();
  const lang = useLang();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [text, setText] = useState("");
  const [marked, setMarked] = useState(0);
  const q = useDeferredValue(text.trim());
  const { data, isPlaceholderData } = useQuery(jobSearch(q));
  const run = useRunNow();
  const pause = usePause();
  const may = useMay();
  const listId = useId();
  const jobs = data?.items ?? [];

  const entries: Entry[] = [];
  if (runId.test(q)) {
    const run_id = q.toLowerCase();
    entries.push({
      id: "run",
      section: t.palette.run,
      icon: Activity,
      text: run_id,
      go: () => void navigate({ to: "/runs/$runId", params: { runId: run_id } }),
    });
  }
  for (const { definition: d } of jobs.slice(0, q === "" ? 5 : 8)) {
    const params = refOf(d.job);
    entries.push({
      id: d.job,
      section: t.palette.jobs,
      icon: ListChecks,
      text: d.job,
      aside: scheduleInWords(d.schedule, t, lang),
      go: () => void navigate({ to: "/jobs/$group/$name", params }),
    });
  }
  const top = q === "" ? undefined : jobs[0]?.definition;
  if (top) {
    const section = t.palette.actions(top.job);
    const params = refOf(top.job);
    const topPaused = pauseOf(top, serverNow()) !== undefined;
    if (may("operate", params.group)) {
      entries.push(
        { id: "a-run", section, icon: Zap, text: t.act.run, go: () => run.mutate({ job: top.job }) },
        {
          id: "a-pause",
          section,
          icon: topPaused ? Play : Pause,
          text: topPaused ? t.act.resume : t.act.pause,
          go: () => pause.mutate({ job: top.job, paused: !topPaused }),
        },
      );
    }
    if (may("edit", params.group)) {
      entries.push({
        id: "a-edit",
        section,
        icon: Pencil,
        text: t.act.edit,
        go: () => void navigate({ to: "/jobs/$group/$name/edit", params }),
      });
    }
    entries.push({
      id: "a-failed",
      section,
      icon: Activity,
      text: t.palette.failedRuns,
      go: () => void navigate({ to: "/runs", search: { job: [top.job], status: failures, range: "7d" } }),
    });
  }
  const pages = [
    [t.nav.overview, LayoutDashboard, "/"],
    [t.nav.jobs, ListChecks, "/jobs"],
    [t.nav.runs, Activity, "/runs"],
    [t.nav.schedule, CalendarClock, "/schedule"],
    [t.plan.load, CalendarClock, "/schedule/load"],
    [t.nav.executors, Server, "/executors"],
    [t.nav.logs, ScrollText, "/logs"],
    [t.nav.alerts, Bell, "/alerts"],
    [t.nav.ledger, BookCheck, "/ledger"],
    [t.nav.calendars, CalendarDays, "/calendars"],
    [t.nav.audit, ClipboardList, "/audit"],
    [t.nav.cluster, Gauge, "/cluster"],
    [t.nav.settings, Settings, "/settings"],
    [t.act.newJob, Plus, "/jobs/new"],
  ] as const;
  for (const [name, icon, to] of pages) {
    if ((to === "/audit" && !may("admin", "*")) || (to === "/jobs/new" && !may("edit"))) continue;
    if (q === "" || name.toLowerCase().includes(q.toLowerCase())) {
      entries.push({
        id: `p-${name}`,
        section: t.palette.pages,
        icon,
        text: name,
        go: () => void navigate({ to }),
      });
    }
  }
  const at = Math.min(marked, entries.length - 1);
  useEffect(() => {
    document.getElementById(`${listId}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at, listId]);

  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    entry.go();
  };
  const enter = async () => {
    const typed = text.trim();
    if (typed === q && !isPlaceholderData) return choose(entries[at]);
    // What was typed last has not been looked up yet, so the list is still that of another text.
    const first = runId.test(typed)
      ? undefined
      : (await client.fetchQuery(jobSearch(typed))).items[0]?.definition;
    if (!first) return choose(entries[at]);
    onClose();
    return navigate({ to: "/jobs/$group/$name", params: refOf(first.job) });
  };
  const onKey = (e: KeyboardEvent) => {
    if (e.nativeEvent.isComposing) return;
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      e.preventDefault();
      setMarked((at + step + entries.length) % entries.length);
    } else if (e.key === "Enter") {
      e.preventDefault();
      void enter();
    }
  };
  let section = "";
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <div className="scrim" />
        <Dialog.Content className="pal" aria-describedby={undefined}>
          <Dialog.Title className="sr">{t.palette.label}</Dialog.Title>
          <div className="q">
            <Search size={18} aria-hidden />
            <input
              value={text}
              onChange={(e) => {
                setText(e.target.value);
                setMarked(0);
              }}
              onKeyDown={onKey}
              placeholder={t.palette.placeholder}
              role="combobox"
              aria-expanded="true"
              aria-controls={listId}
              aria-activedescendant={entries.length > 0 ? `${listId}-${at}` : undefined}
              aria-label={t.palette.label}
            />
            <kbd className="kbd">esc</kbd>
          </div>
          <div className="results" id={listId} role="listbox" aria-label={t.palette.label}>
            {entries.map((e, i) => {
              const head = e.section !== section;
              section = e.section;
              return (
                <div key={e.id} role="presentation">
                  {head && (
                    <div className="gh" role="presentation">
                      {e.section}
                    </div>
                  )}
                  <div
                    id={`${listId}-${i}`}
                    role="option"
                    aria-selected={i === at}
                    className={i === at ? "pi on" : "pi"}
                    onClick={() => choose(e)}
                    onMouseMove={() => setMarked(i)}
                  >
                    <e.icon size={16} aria-hidden />
                    <span className="trunc">
                      <Marked text={e.text} q={q} />
                    </span>
                    <span className="right mut trunc">{e.aside}</span>
                    {i === at && <CornerDownLeft size={14} aria-hidden />}
                  </div>
                </div>
              );
            })}
            {entries.length === 0 && <p className="nothing">{t.palette.nothing}</p>}
          </div>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** A text with the part that was looked for in bold. */
function Marked({ text, q }: { text: string; q: string }) {
  const at = q === "" ? -1 : text.toLowerCase().indexOf(q.toLowerCase());
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <b>{text.slice(at, at + q.length)}</b>
      {text.slice(at + q.length)}
    </>
  );
}
