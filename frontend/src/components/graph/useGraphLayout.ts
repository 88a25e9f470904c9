import { useEffect, useState } from "react";
import { laidOut } from "@/lib/graph/laid";
import type { Layout, Plan } from "@/lib/graph/layout";

interface Laid {
  plan: string;
  layout?: Layout;
  error?: Error;
}

/** The layout of a plan, or of the one before as long as that of the new one is not there. */
export function useGraphLayout(plan: Plan | undefined): {
  layout: Layout | undefined;
  error: Error | undefined;
} {
  const key = plan && JSON.stringify(plan);
  const [laid, setLaid] = useState<Laid>();
  useEffect(() => {
    if (key === undefined) return;
    let wanted = true;
    laidOut(JSON.parse(key) as Plan).then(
      (layout) => wanted && setLaid({ plan: key, layout }),
      (error: Error) => wanted && setLaid((was) => ({ ...was, plan: key, error })),
    );
    return () => {
      wanted = false;
    };
  }, [key]);
  return { layout: laid?.layout, error: laid !== undefined && laid.plan === key ? laid.error : undefined };
}
