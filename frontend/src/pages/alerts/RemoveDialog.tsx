import { useMutation, useQueryClient } from "@tanstack/react-query";
import { alertsKey } from "@/api/alerts";
import { Button } from "@/components/Button";
import { Dialog } from "@/components/Dialog";
import { toast } from "@/components/Toasts";
import { useComplain } from "@/shell/actions";
import { useAlertT } from "./texts";

interface RemoveDialogProps {
  name: string;
  hint: string;
  remove(name: string): Promise<void>;
  onClose(): void;
}

export function RemoveDialog({ name, hint, remove, onClose }: RemoveDialogProps) {
  const t = useAlertT();
  const client = useQueryClient();
  const complain = useComplain();
  const go = useMutation({
    mutationFn: () => remove(name),
    onError: complain,
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: alertsKey });
      toast({ text: t.done.deleted(name) });
    },
    onSettled: onClose,
  });
  return (
    <Dialog
      title={t.alerts.remove(name)}
      hint={hint}
      open
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t.act.cancel}</Button>
          <Button look="danger-fill" busy={go.isPending} onClick={() => go.mutate()}>
            {t.act.remove}
          </Button>
        </>
      }
    >
      {null}
    </Dialog>
  );
}
