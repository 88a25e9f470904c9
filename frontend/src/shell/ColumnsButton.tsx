import { Columns3 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useT } from "@/i18n";
import type { Columns } from "./useColumns";

const ColumnsDialog = lazy(() => import("./ColumnsDialog"));

export interface ColumnsButtonProps<C extends string> {
  columns: Columns<C>;
  labels: Record<C, string>;
}

/** Opens what columns there are of a table, to be shown, hidden and put in order. */
export function ColumnsButton<C extends string>(props: ColumnsButtonProps<C>) {
  const t = useT();
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="fchip" onClick={() => setOpen(true)}>
        <Columns3 size={14} aria-hidden />
        {t.act.columns}
      </button>
      {open && (
        <Suspense>
          <ColumnsDialog {...props} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
