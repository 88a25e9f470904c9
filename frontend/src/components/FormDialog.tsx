import { type FormEvent, type ReactNode, useId } from "react";
import { useT } from "@/i18n";
import { Button } from "./Button";
import { Dialog } from "./Dialog";
import { Refusal } from "./Refusal";

interface FormDialogProps {
  title: string;
  hint?: ReactNode;
  wide?: boolean;
  drawer?: boolean;
  /** The verb on the button that does it. */
  verb: string;
  /** It takes something away. */
  danger?: boolean;
  busy: boolean;
  disabled?: boolean;
  /** Why the server refused what was sent. */
  error?: unknown;
  /** Beside the buttons: what keeps it from being sent. */
  aside?: ReactNode;
  /** In the place of cancelling: to a step before this one. */
  back?: { label: string; go(): void };
  onSubmit(): void;
  onClose(): void;
  children: ReactNode;
}

/** A dialog with a form, which Enter sends. It stays open, with what was typed, until its owner closes it. */
export function FormDialog({
  verb,
  danger,
  busy,
  disabled,
  error,
  aside,
  back,
  onSubmit,
  children,
  ...dialog
}: FormDialogProps) {
  const t = useT();
  const id = useId();
  const submit = (e: FormEvent) => {
    e.preventDefault();
    e.stopPropagation(); // in React's tree a dialog may be inside of another form
    if (!busy && !disabled) onSubmit();
  };
  return (
    <Dialog
      {...dialog}
      open
      footer={
        <>
          {aside && <span className="c-bad right-auto">{aside}</span>}
          <Button onClick={back?.go ?? dialog.onClose}>{back?.label ?? t.act.cancel}</Button>
          <Button
            type="submit"
            form={id}
            look={danger ? "danger-fill" : "primary"}
            busy={busy}
            disabled={disabled}
          >
            {verb}
          </Button>
        </>
      }
    >
      <form id={id} className="fields" noValidate onSubmit={submit}>
        {children}
        <Refusal error={error} />
      </form>
    </Dialog>
  );
}
