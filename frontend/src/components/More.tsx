import { useT } from "@/i18n";
import { Button } from "./Button";

interface MoreProps {
  /** A list that comes in pages. */
  of: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown };
  /** What is said below the last row. */
  end?: string;
}

/** The foot of a list: a way to its next page, or that this was all. */
export function More({ of, end }: MoreProps) {
  const t = useT();
  if (!of.hasNextPage && !end) return null;
  return (
    <p className="foot">
      {of.hasNextPage ? (
        <Button busy={of.isFetchingNextPage} onClick={() => void of.fetchNextPage()}>
          {t.act.loadMore}
        </Button>
      ) : (
        <span className="mut">{end}</span>
      )}
    </p>
  );
}
