import type { Alert } from "@/api/schema.gen";
import type { Messages } from "@/i18n/en";
import type { alerts } from "@/i18n/en/alerts";

export const kinds = [
  "ends",
  "starts_within",
  "ends_within",
  "slower_than_p95",
  "no_executor_for",
  "stream_full",
  "store_full",
  "discrepancy",
  "dead_letters",
  "shards_parked",
  "clock_wrong",
  "over_budget",
  "target_missed",
  "approval_wanted",
  "never_heard",
  "unasked",
] as const;
export type Kind = (typeof kinds)[number];
export type When = NonNullable<Alert["when"]>;

/** The ends that count when a rule names none. */
export const usualEnds = ["failed", "timed_out", "lost", "missed"];

export function kindOf(when: When | undefined): Kind {
  return kinds.find((k) => when?.[k] !== undefined && when[k] !== 0 && when[k] !== false) ?? "ends";
}

/** A condition of another kind, with a value to begin with. */
export function fresh(kind: Kind): When {
  switch (kind) {
    case "ends":
      return { ends: usualEnds };
    case "starts_within":
    case "no_executor_for":
      return { [kind]: "5m" };
    case "ends_within":
      return { ends_within: "1h" };
    case "never_heard":
      return { never_heard: "24h" };
    case "unasked":
      return { unasked: 3 };
    case "slower_than_p95":
      return { slower_than_p95: 2 };
    case "stream_full":
      return { stream_full: 80 };
    case "store_full":
      return { store_full: 90 };
    case "discrepancy":
    case "dead_letters":
    case "shards_parked":
    case "clock_wrong":
    case "over_budget":
    case "target_missed":
    case "approval_wanted":
      return { [kind]: true };
  }
}

/** Says a condition in words. */
export function whenInWords(when: When | undefined, t: Messages & { alerts: typeof alerts }): string {
  const w = t.alerts.whenSaid;
  const statuses: Record<string, string> = t.status;
  switch (kindOf(when)) {
    case "ends": {
      const ends = (when?.ends ?? usualEnds).map((s) => (statuses[s] ?? s).toLowerCase()).join(", ");
      return w.ends(ends, when?.in_a_row ?? 1);
    }
    case "starts_within":
      return w.starts_within(when?.starts_within ?? "");
    case "ends_within":
      return (when?.predict ? w.predict : w.ends_within)(when?.ends_within ?? "");
    case "slower_than_p95":
      return w.slower_than_p95(when?.slower_than_p95 ?? 0);
    case "no_executor_for":
      return w.no_executor_for(when?.no_executor_for ?? "");
    case "stream_full":
      return w.stream_full(when?.stream_full ?? 0);
    case "store_full":
      return w.store_full(when?.store_full ?? 0);
    case "discrepancy":
      return w.discrepancy;
    case "dead_letters":
      return w.dead_letters;
    case "shards_parked":
      return w.shards_parked;
    case "clock_wrong":
      return w.clock_wrong;
    case "over_budget":
      return w.over_budget;
    case "target_missed":
      return w.target_missed;
    case "approval_wanted":
      return w.approval_wanted;
    case "never_heard":
      return w.never_heard(when?.never_heard ?? "");
    case "unasked":
      return w.unasked(when?.unasked ?? 0);
  }
}
