import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { retentionQuery } from "@/api/retention";
import { preferred } from "@/i18n";
import { serverNow } from "@/lib/clock";
import { readerZone, useFormat, useLang } from "@/lib/format";
import { useNow } from "@/lib/now";
import { getPrefs, usePrefs } from "@/lib/prefs";
import { longestKept, mostKept } from "@/lib/retention";
import {
  boundRange,
  firstDayOf,
  type RangeName,
  type RangeProblem,
  type RangeReader,
  type RangeSearch,
  readRange,
  type TimeRange,
  usualRanges,
  windowOf,
} from "@/lib/timerange";

interface RangeOptions {
  /** What can be chosen. Defaults to usualRanges. */
  offers?: readonly RangeName[];
  /** The range of an address that has none. Defaults to the one that was chosen last, on any page. */
  usual?: RangeName;
  /** How long a range may be, in ms. */
  longest?: number;
  /** What the page shows, of which only so much is kept. Defaults to runs. */
  shows?: "runs" | "logs";
  /** The other filters: with another one, a range that ends now is read anew. */
  within?: unknown;
}

/** The range that a page shows. */
export interface Ranged {
  range: TimeRange;
  /** What is wrong with the address, or was cut from the range. */
  problem: RangeProblem | undefined;
  /** The range as lists ask for it. One that ends now begins where it did when the list was read, so that pages fit together. */
  window: { from?: string; to?: string };
  /** The same as an address has it, for links to other pages. */
  search: RangeSearch;
  offers: readonly RangeName[];
  /** On which day weeks begin: 1 is Monday, 7 is Sunday. */
  firstDay: number;
  /** What the page shows, of which only so much is kept. */
  shows: "runs" | "logs";
  /** The choice is that of other pages, too. */
  isShared: boolean;
  /** Reads a range that ends now anew. */
  renew(): void;
}

/** Reads the usual range of a page from its address, for what is asked before the page is there. */
export function rangeAhead(search: RangeSearch): { range: TimeRange; reader: RangeReader } {
  const { lang = preferred(navigator.languages), range: usual } = getPrefs();
  const firstDay = firstDayOf(lang, navigator.languages);
  const reader = { now: serverNow(), zone: readerZone(), firstDay, usual, offers: usualRanges };
  return { range: readRange(search, reader).range, reader };
}

/** Reads the range of a page from its address. */
export function useRange(search: RangeSearch, options: RangeOptions = {}): Ranged {
  const { offers = usualRanges, longest, shows = "runs", within } = options;
  const { zone } = useFormat();
  const last = usePrefs().range;
  const lang = useLang();
  const now = useNow();
  const usual = options.usual ?? offers.find((name) => name === last) ?? "24h";
  const firstDay = useMemo(() => firstDayOf(lang, navigator.languages), [lang]);
  const reader = { now, zone, firstDay, usual, offers };
  const read = readRange(search, reader);
  const own = read.range.name === undefined;
  const retention = useQuery({ ...retentionQuery, enabled: own }).data?.retention;
  const kept = retention ? longestKept(retention, shows) : mostKept;
  const { range, problem } = boundRange(
    read.range,
    now,
    longest === undefined ? { kept } : { kept, longest },
  );

  const [renewals, setRenewals] = useState(0);
  const key = JSON.stringify([search.range, search.from, search.to, search.zone, within]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is read as of now
  const begun = useMemo(serverNow, [key, renewals]);
  const asked = own ? range : readRange(search, { ...reader, now: begun }).range;
  return {
    range,
    problem: read.problem ?? problem,
    window: windowOf(asked),
    search: own
      ? { from: search.from, to: search.to, zone: search.zone }
      : { range: range.name, zone: range.zone === zone ? undefined : range.zone },
    offers,
    firstDay,
    shows,
    isShared: options.usual === undefined,
    renew: () => setRenewals((n) => n + 1),
  };
}
