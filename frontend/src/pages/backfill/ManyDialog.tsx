import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { bulkBackfill, bulkBackfillsKey } from "@/api/bulkbackfill";
import type { BulkBackfillRequest, JobFilter } from "@/api/schema.gen";
import { FormDialog } from "@/components/FormDialog";
import { Check, NumberField, TextField, WallField } from "@/components/fields";
import { Segments, SegmentsField } from "@/components/Segments";
import { serverNow } from "@/lib/clock";
import { instantToWall, usePageWords, wallToInstant } from "@/lib/format";
import { dateIn } from "@/lib/month";
import { PlanList } from "./PlanList";

const kinds = ["all", "missed", "skipped", "failed"] as const;
const dayLength = 24 * 3600e3;

interface ManyDialogProps {
  /** The jobs; or what finds them. */
  jobs?: string[];
  filter?: JobFilter;
  /** The date that is run again unless somebody says otherwise. Defaults to yesterday. */
  day?: string;
  onClose(): void;
}

/** Runs the fires of a day again of many jobs: first it is shown what would run of each, then that is run. */
export default function ManyDialog({ jobs, filter, day, onClose }: ManyDialogProps) {
  const { t, f } = usePageWords();
  const b = t.bulkBackfill;
  const client = useQueryClient();
  const navigate = useNavigate();
  const today = dateIn(f.zone, serverNow());
  const yesterday = dateIn(f.zone, wallToInstant(`${today}T12:00`, f.zone) - dayLength);
  const [date, setDate] = useState<string | undefined>(day ?? yesterday);
  const [own, setOwn] = useState({ from: "", to: "" });
  const [name, setName] = useState<string>();
  const [only, setOnly] = useState<(typeof kinds)[number]>("all");
  const [atOnce, setAtOnce] = useState<number | undefined>(1);
  const [again, setAgain] = useState(false);
  const [note, setNote] = useState("");
  const [request, setRequest] = useState<BulkBackfillRequest>();

  const look = useMutation({
    mutationFn: (asked: BulkBackfillRequest) => bulkBackfill(asked, true),
    onSuccess: (_, asked) => setRequest(asked),
  });
  const start = useMutation({
    mutationFn: (asked: BulkBackfillRequest) => bulkBackfill(asked, false),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: bulkBackfillsKey });
      onClose();
      if (made.backfill)
        void navigate({ to: "/backfills/$backfill", params: { backfill: made.backfill.id } });
    },
  });
  const dates = [...new Set([yesterday, today, ...(day ? [day] : [])])].sort().reverse();
  const title = jobs ? b.dialog(jobs.length) : filter?.group ? b.dialogGroup(filter.group) : b.dialogAll;
  const said = name ?? b.suggested(date ?? own.from.slice(0, 10));
  const [from, to] = date
    ? [wallToInstant(`${date}T00:00`, f.zone), wallToInstant(`${dayAfter(date)}T00:00`, f.zone)]
    : [wallToInstant(own.from, f.zone), wallToInstant(own.to, f.zone)];
  const ask = () =>
    look.mutate({
      name: said,
      ...(jobs ? { jobs } : { filter: { group: filter?.group, q: filter?.q } }),
      from: new Date(from).toISOString(),
      to: new Date(Math.min(to, serverNow())).toISOString(),
      only,
      again: again || undefined,
      at_once: atOnce,
      note: note || undefined,
    });
  const choose = (next: string) => {
    if (next === "own" && date)
      setOwn({ from: instantToWall(from, f.zone), to: instantToWall(Math.min(to, serverNow()), f.zone) });
    setDate(next === "own" ? undefined : next);
  };
  if (request && look.data) {
    const { fires, items } = look.data;
    const taking = items.filter((x) => x.fires > 0).length;
    return (
      <FormDialog
        title={title}
        hint={fires > 0 ? b.would(fires, taking) : b.none}
        wide
        verb={b.start(fires)}
        busy={start.isPending}
        disabled={fires === 0}
        error={start.error}
        back={{ label: t.backfill.back, go: () => setRequest(undefined) }}
        onSubmit={() => start.mutate(request)}
        onClose={onClose}
      >
        <PlanList items={items} />
      </FormDialog>
    );
  }
  const words = { [today]: b.today, [yesterday]: b.yesterday };
  return (
    <FormDialog
      title={title}
      hint={b.hint}
      wide
      verb={b.preview}
      busy={look.isPending}
      disabled={atOnce === undefined || said.trim() === "" || Number.isNaN(from) || Number.isNaN(to)}
      error={look.error}
      onSubmit={ask}
      onClose={onClose}
    >
      <TextField label={b.name} value={said} maxLength={100} onChange={setName} />
      <SegmentsField
        label={b.day}
        value={date ?? "own"}
        options={[
          ...dates.map((d) => ({ value: d, label: words[d] ?? d })),
          { value: "own", label: t.backfill.own },
        ]}
        onChange={choose}
      />
      {date === undefined && (
        <div className="two">
          <WallField
            label={t.backfill.from(f.zone)}
            value={own.from}
            onChange={(at) => setOwn({ ...own, from: at })}
          />
          <WallField
            label={t.backfill.to(f.zone)}
            value={own.to}
            onChange={(at) => setOwn({ ...own, to: at })}
          />
        </div>
      )}
      <div className="f">
        <span className="lab">{t.backfill.which}</span>
        <Segments
          label={t.backfill.which}
          value={only}
          options={kinds.map((k) => ({ value: k, label: t.backfill.only[k] }))}
          onChange={setOnly}
        />
        <p className="hint">{t.backfill.whichHint[only]}</p>
      </div>
      <div className="two">
        <NumberField label={b.atOnce} min={1} max={100} value={atOnce} onChange={setAtOnce} />
        <TextField label={b.note} optional value={note} maxLength={500} onChange={setNote} />
      </div>
      <Check label={t.backfill.again} checked={again} onChange={setAgain} />
    </FormDialog>
  );
}

/** The date after one. */
const dayAfter = (date: string) =>
  new Date(Date.parse(`${date}T12:00:00Z`) + dayLength).toISOString().slice(0, 10);
