import { useQuery } from "@tanstack/react-query";
import { foundLines, type LogSearch } from "@/api/runs";
import type { Run } from "@/api/schema.gen";
import { useSettled } from "@/components/useSettled";
import type { Log } from "./useLog";

/** The lines in which something was found. */
export interface Found {
  /** Their numbers, in order. */
  matches: number[];
  /** How many there are: of very many not all have their number. */
  total: number;
  isPending: boolean;
  /** Why they could not be looked for. */
  error: unknown;
}

/** Finds lines in the whole log: among those held, or where these are but a part of it, on the server. */
export function useFound(log: Log, run: Run, what: LogSearch, held: number[]): Found {
  const settled = useSettled(what, 250);
  const asks = log.isLong && what.text !== "";
  const found = useQuery({
    ...foundLines(run.run_id, run.attempt, run.broadcast_index, settled),
    enabled: asks && settled.text !== "",
  });
  if (!asks) return { matches: held, total: held.length, isPending: false, error: null };
  const isPending = JSON.stringify(settled) !== JSON.stringify(what) || found.isPending;
  if (isPending || !found.data)
    return { matches: [], total: 0, isPending, error: isPending ? null : found.error };
  const { seqs, total, last_seq } = found.data;
  const later = held.filter((seq) => seq > last_seq); // printed since
  return {
    matches: seqs.length < total ? seqs : [...seqs, ...later],
    total: total + later.length,
    isPending,
    error: null,
  };
}
