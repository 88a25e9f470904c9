import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { CircleCheck, LoaderCircle, TriangleAlert } from "lucide-react";
import { firesProof, overviewTime } from "@/api/overview";
import { useWords } from "@/lib/format";
import { useNow } from "@/lib/now";
import type { Zoom } from "@/lib/ranges";
import { proofOf } from "@/lib/tally";
import type { Range } from "@/router";

/** Whether all fires that were due in the range are accounted for, by the ledger. */
export function Proof({ range, zoom }: { range: Range; zoom: Zoom | undefined }) {
  const { t, f } = useWords();
  const { span, to } = overviewTime(range, useNow(), zoom);
  const asked = useQuery(firesProof(to - span, zoom ? to : undefined));
  const page = asked.isPlaceholderData ? undefined : asked.data;
  const proof = page && proofOf(page);
  const w = t.overview.proof;
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
      <Link to="/ledger" search={{ range: range === "24h" ? undefined : range }} className="link">
        {t.nav.ledger}
      </Link>
    </p>
  );
}
