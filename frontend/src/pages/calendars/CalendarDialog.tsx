import { useMutation } from "@tanstack/react-query";
import { FileUp, Plus, X } from "lucide-react";
import { useState } from "react";
import { calendarsQuery, putCalendar } from "@/api/cluster";
import { readCalendarFile } from "@/api/importing";
import type { Calendar, CalendarItem } from "@/api/schema.gen";
import { Button, IconButton } from "@/components/Button";
import { FormDialog } from "@/components/FormDialog";
import { Field, TextField } from "@/components/fields";
import { Refusal } from "@/components/Refusal";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { datesOf, joinDates } from "@/lib/calendar";
import { localZone } from "@/lib/format";
import { ProblemError, unreachable } from "@/lib/problem";
import { useSave } from "@/shell/useSave";
import { AffectedFires } from "./AffectedFires";
import { FileEvents } from "./FileEvents";

type Window = NonNullable<Calendar["windows"]>[number];

/** As the server takes it. */
const maxFile = 4 << 20;

const sameWindow = (a: Window, b: Window) => a.days === b.days && a.from === b.from && a.to === b.to;

interface CalendarDialogProps {
  /** The calendar to edit; absent for a new one. */
  item?: CalendarItem;
  onClose(): void;
}

/** Edits a named set of dates and windows of the week. */
export function CalendarDialog({ item, onClose }: CalendarDialogProps) {
  const t = usePageT();
  const c = t.calendars;
  const was = item?.definition;
  const [name, setName] = useState(was?.calendar ?? "");
  const [description, setDescription] = useState(was?.description ?? "");
  const [zone, setZone] = useState(was?.zone ?? localZone);
  const [dates, setDates] = useState((was?.dates ?? []).join("\n"));
  const [windows, setWindows] = useState<Window[]>(was?.windows ?? []);
  const calendar: Calendar = {
    calendar: name,
    description: description || undefined,
    zone,
    dates: datesOf(dates),
    windows,
  };
  const file = useMutation({
    mutationFn: async (chosen: File) => {
      if (chosen.size > maxFile)
        throw new ProblemError({ ...unreachable(), code: "too_large", detail: c.tooBig });
      return readCalendarFile(await chosen.text(), was && zone);
    },
    onSuccess: (read) => {
      setDates(joinDates(datesOf(dates), read.dates).join("\n"));
      setWindows([...windows, ...read.windows.filter((w) => !windows.some((x) => sameWindow(x, w)))]);
      if (read.zone) setZone(read.zone);
      if (!description) setDescription(read.title);
    },
  });
  const save = useSave({
    act: () => putCalendar(calendar, item?.revision),
    stale: calendarsQuery.queryKey,
    onSaved: (saved) => {
      toast({ text: t.done.saved(name, saved.definition.version) });
      onClose();
    },
  });
  const edit = (i: number, change: Partial<Window>) =>
    setWindows(windows.map((w, j) => (j === i ? { ...w, ...change } : w)));
  return (
    <FormDialog
      title={was ? c.edit(was.calendar) : c.create}
      hint={c.hint}
      wide
      verb={was ? c.saveAs(was.version + 1) : c.save}
      {...save}
      disabled={name === ""}
      onClose={onClose}
    >
      <div className="two">
        <TextField
          label={c.name}
          mono
          value={name}
          disabled={was !== undefined}
          placeholder="holidays"
          onChange={(v) => setName(v.trim())}
        />
        <TextField label={c.zone} value={zone} onChange={(v) => setZone(v.trim())} />
      </div>
      <TextField label={c.description} optional value={description} onChange={setDescription} />
      <div className="row g2 wrap">
        <label className="btn filebtn">
          <FileUp size={14} aria-hidden />
          {c.file}
          <input
            type="file"
            className="sr"
            accept=".ics,text/calendar"
            onChange={(e) => {
              const [chosen] = e.target.files ?? [];
              e.target.value = "";
              if (chosen) file.mutate(chosen);
            }}
          />
        </label>
      </div>
      <Refusal error={file.error} />
      {file.data && <FileEvents read={file.data} />}
      <Field label={c.datesLabel} hint={c.datesHint}>
        {(ids) => (
          <textarea
            {...ids}
            className="area mono"
            rows={4}
            spellCheck={false}
            placeholder={"12-25\n2026-04-03"}
            value={dates}
            onChange={(e) => setDates(e.target.value)}
          />
        )}
      </Field>
      <div className="f">
        <span className="lab">{c.windowsLabel}</span>
        {windows.map((w, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is typed
          <div className="row g2 wrap" key={i}>
            <span className="inp grow">
              <input
                className="mono"
                aria-label={c.days}
                placeholder="mon-fri"
                value={w.days ?? ""}
                onChange={(e) => edit(i, { days: e.target.value || undefined })}
              />
            </span>
            <span className="inp time">
              <input
                className="mono"
                aria-label={c.from}
                placeholder="09:00"
                value={w.from}
                onChange={(e) => edit(i, { from: e.target.value })}
              />
            </span>
            –
            <span className="inp time">
              <input
                className="mono"
                aria-label={c.to}
                placeholder="17:30"
                value={w.to}
                onChange={(e) => edit(i, { to: e.target.value })}
              />
            </span>
            <IconButton
              icon={X}
              size={14}
              label={c.removeWindow}
              onClick={() => setWindows(windows.filter((_, j) => j !== i))}
            />
          </div>
        ))}
        <span>
          <Button
            small
            icon={Plus}
            onClick={() => setWindows([...windows, { days: "mon-fri", from: "09:00", to: "17:00" }])}
          >
            {c.addWindow}
          </Button>
        </span>
      </div>
      {name !== "" && <AffectedFires calendar={calendar} />}
    </FormDialog>
  );
}
