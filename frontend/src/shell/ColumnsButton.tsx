import { Columns3 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { IconButton } from "@/components/Button";
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
      <IconButton icon={Columns3} label={t.act.columns} onClick={() => setOpen(true)} />
      {open && (
        <Suspense>
          <ColumnsDialog {...props} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
