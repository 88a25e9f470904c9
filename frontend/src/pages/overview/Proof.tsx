import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, LoaderCircle, TriangleAlert } from "lucide-react";
import { chartParts, firesProof } from "@/api/overview";
import { useWords } from "@/lib/format";
import { longestLedger, proofOf } from "@/lib/tally";
import { chartOf } from "@/lib/timerange";
import type { Scoped } from "@/shell/useScope";

/** Whether all fires that were due in the range are accounted for, by the ledger; nothing for more than it checks. */
export default function Proof({ of: { range, search, scope } }: { of: Scoped }) {
  const { t, f } = useWords();
  const { from, to } = chartOf(range, chartParts);
  const isShort = to - from <= longestLedger;
  const asked = useQuery({ ...firesProof(from, range.isOpen ? undefined : to, scope), enabled: isShort });
  const page = asked.isPlaceholderData ? undefined : asked.data;
  const proof = page && proofOf(page);
  const w = t.overview.proof;
  if (!isShort) return null;
  const Icon = proof?.holds ? CircleCheck : proof || asked.isError ? TriangleAlert : LoaderCircle;
  return (
    <p className={`note spaced ${proof?.holds ? "good" : proof || asked.isError ? "warn" : ""}`}>
      <Icon size={15} aria-hidden />
      <span className="grow">
        {proof
          ? [
              page.next && w.first(new Set(page.items.map((d) => d.job)).size),
              w.due(proof.due),
              [
                proof.due > 0 && w.accounted(f.number(proof.accounted)),
                proof.open > 0 && w.open(f.number(proof.open)),
                proof.wrong > 0 && w.wrong(proof.wrong),
                proof.unjudged > 0 && w.unjudged(f.number(proof.unjudged)),
              ]
                .filter(Boolean)
                .join(w.comma),
            ]
              .filter(Boolean)
              .join(w.colon)
          : asked.isError
            ? w.failed
            : w.checking}
      </span>
      <Link to="/ledger" search={{ ...search, ...scope }} className="link">
        {t.nav.ledger}
      </Link>
    </p>
  );
}
