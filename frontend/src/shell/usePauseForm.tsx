import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fireCounts } from "@/api/schedule";
import { TextField } from "@/components/fields";
import { PauseEndField } from "@/components/PauseEndField";
import { usePageT } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { useFormat } from "@/lib/format";
import { useNow } from "@/lib/now";
import { endOf, noEnd } from "@/lib/pause";

const hour = 3_600_000;

/** What a dialog asks before it pauses a group, or everything: until when, and why. */
export function usePauseForm(group?: string) {
  const t = usePageT();
  const f = useFormat();
  const now = useNow();
  const [from] = useState(now);
  const [note, setNote] = useState("");
  const [end, setEnd] = useState(noEnd);
  const range = { from: new Date(from).toISOString(), to: new Date(from + hour).toISOString() };
  const due = useQuery(fireCounts({ ...range, group }, 1, `pause ${group ?? ""}`)).data?.counts[0];
  return {
    /** How many fires of the next hour it skips; nothing if there are none. */
    skips: due ? <b>{t.cluster.pauseSkips(due)}</b> : null,
    invalid: Number.isNaN(endOf(end, now, f.zone)),
    /** What was typed, when it is sent. */
    wish: () => {
      const until = endOf(end, serverNow(), f.zone);
      return { note, until: until === undefined ? undefined : new Date(until).toISOString() };
    },
    fields: (
      <>
        <PauseEndField value={end} onChange={setEnd} />
        <TextField label={t.cluster.reason} value={note} maxLength={500} onChange={setNote} />
      </>
    ),
  };
}
