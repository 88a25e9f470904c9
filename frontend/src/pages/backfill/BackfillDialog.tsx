import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { backfill, backfillsKey } from "@/api/backfill";
import { jobQuery } from "@/api/jobs";
import type { BackfillRequest } from "@/api/schema.gen";
import { FormDialog } from "@/components/FormDialog";
import { Check, NumberField, TextField, WallField } from "@/components/fields";
import { Segments } from "@/components/Segments";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { instantToWall, useFormat, wallToInstant } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { spans, type TimeRange } from "@/lib/timerange";
import { zoneOf } from "@/lib/words";
import { FireList } from "./FireList";

const ranges = ["24h", "7d", "30d"] as const;
const kinds = ["missed", "skipped", "failed", "all"] as const;
type Range = (typeof ranges)[number];

export interface BackfillDialogProps {
  job: string;
  /** What is asked for unless somebody says otherwise. */
  /** The time that was looked at; a day if none was. */
  of?: TimeRange;
  only?: (typeof kinds)[number];
  onClose(): void;
}

/**
 * Runs fires of the past: first it is said which, then they are shown, then they are run.
 * Exactly those that were shown are in the range, whose end is fixed by then.
 */
export default function BackfillDialog({ job, of, only: wanted = "missed", onClose }: BackfillDialogProps) {
  const t = usePageT();
  const b = t.backfill;
  const f = useFormat();
  const client = useQueryClient();
  const navigate = useNavigate();
  const ref = refOf(job);
  const known = useQuery(jobQuery(ref)).data?.item.definition;
  const zone = known ? zoneOf(known.schedule) : f.zone;
  const looked = of && !presetOf(of) ? of : undefined;
  const [preset, setPreset] = useState<Range | undefined>(
    looked ? undefined : ((of && presetOf(of)) ?? "24h"),
  );
  const [own, setOwn] = useState(() => (looked ? walls(looked, zone) : { from: "", to: "" }));
  const [only, setOnly] = useState(wanted);
  const [atOnce, setAtOnce] = useState<number | undefined>(1);
  const [again, setAgain] = useState(false);
  const [note, setNote] = useState("");
  const [request, setRequest] = useState<BackfillRequest>();

  const look = useMutation({
    mutationFn: (asked: BackfillRequest) => backfill(ref, { ...asked, dry_run: true }),
    onSuccess: (_, asked) => setRequest(asked),
  });
  const start = useMutation({
    mutationFn: (asked: BackfillRequest) => backfill(ref, asked),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: backfillsKey(ref) });
      toast({
        text: b.started(made.fires.length),
        action: {
          label: b.show,
          run: () => void navigate({ to: "/jobs/$group/$name/$tab", params: { ...ref, tab: "ledger" } }),
        },
      });
      onClose();
    },
  });
  const ask = () => {
    const to = serverNow();
    const [from, until] = preset
      ? [to - spans[preset], to]
      : [wallToInstant(own.from, zone), wallToInstant(own.to, zone)];
    look.mutate({
      from: new Date(from).toISOString(),
      to: new Date(Math.min(until, to)).toISOString(),
      only,
      again: again || undefined,
      at_once: atOnce,
      note: note || undefined,
    });
  };
  const choose = (next: Range | "own") => {
    const to = serverNow();
    if (next === "own" && preset) setOwn(walls({ from: to - spans[preset], to }, zone));
    setPreset(next === "own" ? undefined : next);
  };
  if (request && look.data) {
    const { fires, left_out } = look.data;
    return (
      <FormDialog
        title={b.title(job)}
        hint={fires.length > 0 ? b.fires(fires.length) : b.none}
        wide
        verb={b.start(fires.length)}
        busy={start.isPending}
        disabled={fires.length === 0}
        error={start.error}
        back={{ label: b.back, go: () => setRequest(undefined) }}
        onSubmit={() => start.mutate(request)}
        onClose={onClose}
      >
        {left_out > 0 && <p className="note info">{b.leftOut(left_out)}</p>}
        <FireList fires={fires} zone={zone} />
      </FormDialog>
    );
  }
  return (
    <FormDialog
      title={b.title(job)}
      hint={b.hint}
      wide
      verb={b.look}
      busy={look.isPending}
      disabled={atOnce === undefined || (!preset && !(own.from && own.to))}
      error={look.error}
      onSubmit={ask}
      onClose={onClose}
    >
      <div className="f">
        <span className="lab">{b.range}</span>
        <Segments
          label={b.range}
          value={preset ?? "own"}
          options={[...ranges.map((r) => ({ value: r, label: r })), { value: "own" as const, label: b.own }]}
          onChange={choose}
        />
      </div>
      {!preset && (
        <div className="two">
          <WallField label={b.from(zone)} value={own.from} onChange={(from) => setOwn({ ...own, from })} />
          <WallField label={b.to(zone)} value={own.to} onChange={(to) => setOwn({ ...own, to })} />
        </div>
      )}
      <div className="f">
        <span className="lab">{b.which}</span>
        <Segments
          label={b.which}
          value={only}
          options={kinds.map((k) => ({ value: k, label: b.only[k] }))}
          onChange={setOnly}
        />
        <p className="hint">{b.whichHint[only]}</p>
      </div>
      <div className="two">
        <NumberField label={b.atOnce} min={1} max={1000} value={atOnce} onChange={setAtOnce} />
        <TextField label={b.note} optional value={note} maxLength={1000} onChange={setNote} />
      </div>
      <Check label={b.again} checked={again} onChange={setAgain} />
    </FormDialog>
  );
}

const presetOf = ({ name }: TimeRange) => ranges.find((r) => r === name);

/** A range as clocks of the zone show it. */
const walls = ({ from, to }: { from: number; to: number }, zone: string) => ({
  from: instantToWall(from, zone),
  to: instantToWall(to, zone),
});
