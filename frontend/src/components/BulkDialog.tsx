import type { ReactNode } from "react";
import { usePageT } from "@/i18n";
import { Button } from "./Button";
import { CopyButton } from "./Copy";
import { Dialog } from "./Dialog";

interface BulkDialogProps {
  /** What is to be done, which is also what the button says that does it. */
  title: string;
  /** It cannot be undone. */
  danger: boolean;
  /** How far it is, while it is under way. The dialog cannot be left then. */
  working: string | undefined;
  /** It cannot be begun yet. */
  blocked: boolean;
  /** What became of each, to be copied; once it is done. */
  outcome: string | undefined;
  /** What the button says that leaves it undone. */
  leave: string;
  onStart(): void;
  onClose(): void;
  /** What it will do to each, and then what it did. */
  children: ReactNode;
}

/** A change of many things: looked at, begun, and accounted for. */
export function BulkDialog(props: BulkDialogProps) {
  const { title, danger, working, blocked, outcome, leave, onStart, onClose, children } = props;
  const t = usePageT();
  const busy = working !== undefined;
  return (
    <Dialog
      title={title}
      open
      wide
      onClose={busy ? () => {} : onClose}
      footer={
        outcome !== undefined ? (
          <>
            <CopyButton label={t.joblist.review.copyResult} text={outcome} />
            <Button look="primary" onClick={onClose}>
              {t.act.close}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose} disabled={busy}>
              {leave}
            </Button>
            <Button
              look={danger ? "danger-fill" : "primary"}
              busy={busy}
              disabled={blocked}
              onClick={onStart}
            >
              {working ?? title}
            </Button>
          </>
        )
      }
    >
      {children}
    </Dialog>
  );
}
