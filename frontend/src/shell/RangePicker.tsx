import { CalendarRange as CalendarIcon, ChevronDown } from "lucide-react";
import { lazy, Suspense, useId, useRef, useState } from "react";
import type { Messages } from "@/i18n/en";
import { type Format, offsetName, useWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import { setPrefs } from "@/lib/prefs";
import { isLength, type RangeName, type RangeSearch, type TimeRange, type WholeRange } from "@/lib/timerange";
import { useKeys } from "./keys";
import type { Ranged } from "./useRange";

const RangePanel = lazy(() => import("./RangePanel"));

interface RangePickerProps {
  of: Ranged;
  /** The zone of the job that the page is about. */
  jobZone?: string | undefined;
  /** Takes what the address is to have. */
  onChange(search: WholeRange): void;
}

/** The range of a page, and below it, once it is clicked, every other one. */
export function RangePicker({ of, jobZone, onChange }: RangePickerProps) {
  const { t, f } = useWords();
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState(false);
  const now = useNow();
  const { range } = of;
  useKeys({ D: () => popover.current?.showPopover() });
  const choose = (search: RangeSearch, name?: RangeName) => {
    popover.current?.hidePopover();
    if (name && of.isShared) setPrefs({ range: name });
    onChange({ range: search.range, from: search.from, to: search.to, zone: search.zone });
  };
  return (
    <>
      <button
        type="button"
        ref={button}
        className="btn rangebtn"
        popoverTarget={id}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-label={`${t.runs.range}: ${rangeText(range, t, f, now)}`}
        title={timeText(range, f)}
      >
        <CalendarIcon size={14} aria-hidden />
        <span className="trunc num">{rangeText(range, t, f, now)}</span>
        <ChevronDown size={13} aria-hidden />
      </button>
      <div
        popover="auto"
        id={id}
        ref={popover}
        className={open ? "rangepop open" : "rangepop"}
        onBeforeToggle={(e) => {
          if (e.newState === "open" && button.current) place(e.currentTarget, button.current);
        }}
        onToggle={(e) => setOpen(e.newState === "open")}
      >
        {open && (
          <Suspense>
            <RangePanel of={of} jobZone={jobZone} onChoose={choose} />
          </Suspense>
        )}
      </div>
    </>
  );
}

/** A range in a few words: its name, or its two ends, with their zone where that is not the reader's. */
export function rangeText(range: TimeRange, t: Messages, f: Format, now: number): string {
  const { name, from, to, zone } = range;
  if (isLength(name)) return name;
  const there = f.in(zone);
  const what = name ? t.rangeNames[name] : `${there.short(from, now)} – ${there.short(to, now)}`;
  return name === "all" || zone === f.zone ? what : `${what} ${offsetName(zone, from)}`;
}

const timeText = ({ name, from, to, zone }: TimeRange, f: Format) =>
  name === "all" ? undefined : `${f.in(zone).full(from)} – ${f.in(zone).full(to)}`;

/** How far from the edges of the window the panel is, and how large it is at most, in px. */
const edge = 8;
const size = { width: 556, height: 420 };

/** Puts the panel below its button, within the window. Where the window is narrow, style sheets have it as wide as that. */
function place(panel: HTMLElement, button: HTMLElement): void {
  const { bottom, right } = button.getBoundingClientRect();
  const { innerWidth, innerHeight } = window;
  panel.style.top = `${Math.max(edge, Math.min(bottom + 4, innerHeight - size.height - edge))}px`;
  panel.style.right = `${Math.max(edge, Math.min(innerWidth - right, innerWidth - size.width - edge))}px`;
}
