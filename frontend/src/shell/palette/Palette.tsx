import * as Dialog from "@radix-ui/react-dialog";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ChevronRight, CornerDownLeft, Search } from "lucide-react";
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useState } from "react";
import { jobSearch } from "@/api/jobs";
import type { JobVersion } from "@/api/schema.gen";
import { useOpener } from "@/components/useOpener";
import { usePageT } from "@/i18n";
import { isLike } from "@/lib/fuzzy";
import { isRunId } from "@/lib/ids";
import { refOf } from "@/lib/jobref";
import { takeTyped } from "../keys";
import { type Entry, useEntries, useJobActions } from "./entries";

/**
 * Finds jobs, runs, executors, pages and actions by a few letters; Enter does the marked one.
 * The right arrow leads from a job to what can be done with it, and the left one back.
 */
export default function Palette({ onClose }: { onClose(): void }) {
  const t = usePageT();
  const opener = useOpener();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [text, setText] = useState("");
  const [marked, setMarked] = useState(0);
  const [inside, setInside] = useState<JobVersion>();
  const q = useDeferredValue(text.trim());
  const { data, isPlaceholderData } = useQuery({ ...jobSearch(q), enabled: inside === undefined });
  const actionsOf = useJobActions();
  const listId = useId();
  const found = useEntries(
    q,
    (data?.items ?? []).map((item) => item.definition),
  );
  const entries = inside ? actionsOf(inside).filter((e) => isLike(e.text, q)) : found;
  const at = Math.min(marked, entries.length - 1);
  useEffect(() => {
    document.getElementById(`${listId}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [at, listId]);

  const write = (next: string) => {
    setText(next);
    setMarked(0);
  };
  const turn = (to: JobVersion | undefined) => {
    setInside(to);
    write("");
  };
  const choose = (entry: Entry | undefined) => {
    if (!entry || entry.disabled) return;
    onClose();
    entry.go();
  };
  const enter = async () => {
    const typed = text.trim();
    if (inside || (typed === q && data && !isPlaceholderData)) return choose(entries[at]);
    // What was typed last has not been looked up yet, so the list is still that of another text.
    const first = isRunId(typed)
      ? undefined
      : (await client.fetchQuery(jobSearch(typed))).items[0]?.definition;
    if (!first) return choose(entries[at]);
    onClose();
    return navigate({ to: "/jobs/$group/$name", params: refOf(first.job) });
  };
  const onKey = (e: KeyboardEvent<HTMLInputElement>) => {
    if (e.nativeEvent.isComposing) return;
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    const isAtEnd = e.currentTarget.selectionStart === text.length;
    const job = entries[at]?.job;
    if (step !== 0) {
      e.preventDefault();
      setMarked((at + step + entries.length) % Math.max(1, entries.length));
    } else if (e.key === "ArrowRight" && isAtEnd && job) {
      e.preventDefault();
      turn(job);
    } else if (inside && text === "" && (e.key === "ArrowLeft" || e.key === "Backspace")) {
      e.preventDefault();
      turn(undefined);
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
        <Dialog.Content
          className="pal"
          aria-describedby={undefined}
          onOpenAutoFocus={opener.remember}
          onCloseAutoFocus={opener.restore}
        >
          <Dialog.Title className="sr">{t.palette.label}</Dialog.Title>
          <div className="q">
            <Search size={18} aria-hidden />
            {inside && <span className="tag mono">{inside.job}</span>}
            <input
              value={text}
              onChange={(e) => write(e.target.value)}
              onFocus={() => {
                const typed = takeTyped();
                if (typed) write(text + typed);
              }}
              onKeyDown={onKey}
              placeholder={
                inside ? t.palette.actions(inside.title || refOf(inside.job).name) : t.palette.placeholder
              }
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
                    aria-disabled={e.disabled !== undefined}
                    className={i === at ? "pi on" : "pi"}
                    onClick={() => choose(e)}
                    onMouseMove={() => setMarked(i)}
                  >
                    <e.icon size={16} aria-hidden />
                    <span className="trunc">
                      <Marked text={e.text} q={q} />
                    </span>
                    <span className="right mut trunc">{e.disabled ?? e.aside}</span>
                    {e.keys && i !== at && <kbd className="kbd">{e.keys}</kbd>}
                    {i === at && e.job && <ChevronRight size={14} aria-hidden />}
                    {i === at && !e.disabled && <CornerDownLeft size={14} aria-hidden />}
                  </div>
                </div>
              );
            })}
            {entries.length === 0 && <p className="nothing">{t.palette.nothing}</p>}
          </div>
          <p className="palfoot mut">{inside ? t.palette.back : t.palette.how}</p>
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
