import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { FormDialog } from "@/components/FormDialog";
import { toast } from "@/components/Toasts";

interface AskDialogProps<T> {
  title: string;
  hint: ReactNode;
  /** The verb on the button that does it. */
  verb: string;
  /** Nothing is taken away by it. */
  mild?: boolean;
  disabled?: boolean;
  /** What the toast says once it is done. */
  done?: string;
  act(): Promise<T>;
  onDone?(result: T): void;
  onClose(): void;
  /** What may be said with it, such as a reason. */
  children?: ReactNode;
}

/** Asks before something is done that cannot be taken back. Refused, it says why and stays open. */
export function AskDialog<T>({
  title,
  hint,
  verb,
  mild,
  disabled,
  done,
  act,
  onDone,
  onClose,
  children,
}: AskDialogProps<T>) {
  const go = useMutation({
    mutationFn: act,
    onSuccess: (result) => {
      if (done) toast({ text: done });
      onClose();
      onDone?.(result);
    },
  });
  return (
    <FormDialog
      title={title}
      hint={hint}
      verb={verb}
      danger={!mild}
      busy={go.isPending}
      disabled={disabled}
      error={go.error}
      onSubmit={() => go.mutate()}
      onClose={onClose}
    >
      {children}
    </FormDialog>
  );
}
