import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleSlash2, Ellipsis, Hourglass, List, Play, SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { drainInstance, type InstanceOrder, orderInstance } from "@/api/groups";
import type { Instance } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Menu, MenuItem, MenuLine } from "@/components/Menu";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { useComplain } from "@/shell/actions";
import { useMay } from "@/shell/may";
import { DrainDialog } from "./DrainDialog";
import { InstanceSettingsDialog } from "./InstanceSettingsDialog";

/** What can be done with an instance: drain it, or have it take runs again, at once; the rest in a menu. */
export function InstanceActions({ instance: i }: { instance: Instance }) {
  const t = usePageT();
  const [dialog, setDialog] = useState<"drain" | "settings">();
  const operates = useMay()("operate", i.executor_group);
  const navigate = useNavigate();
  const order = useOrder(i);
  const drain = useDrain(i, () => order.mutate("uncordon"));
  const alive = i.state !== "lost";
  const close = () => setDialog(undefined);
  return (
    <span className="row g1 end">
      {alive &&
        (i.state === "online" || i.state === "incompatible" ? (
          <Button small look="ghost" may={operates} onClick={() => setDialog("drain")}>
            {t.fleet.drain}
          </Button>
        ) : (
          <Button small busy={order.isPending} may={operates} onClick={() => order.mutate("uncordon")}>
            {t.fleet.resume}
          </Button>
        ))}
      <Menu
        trigger={
          <button type="button" className="ic" aria-label={`${t.act.more}: ${i.instance}`}>
            <Ellipsis size={16} aria-hidden />
          </button>
        }
      >
        {operates && alive && (
          <>
            {i.state !== "online" && (
              <MenuItem icon={Play} onSelect={() => order.mutate("uncordon")}>
                {t.fleet.resume}
              </MenuItem>
            )}
            {i.state === "online" && (
              <MenuItem icon={CircleSlash2} onSelect={() => order.mutate("cordon")}>
                {t.fleet.cordon}
              </MenuItem>
            )}
            {i.state !== "draining" && (
              <MenuItem icon={Hourglass} onSelect={() => setDialog("drain")}>
                {t.fleet.drain}
              </MenuItem>
            )}
            <MenuItem icon={SlidersHorizontal} onSelect={() => setDialog("settings")}>
              {t.fleet.settings}
            </MenuItem>
            <MenuLine />
          </>
        )}
        <MenuItem
          icon={List}
          onSelect={() => void navigate({ to: "/runs", search: { instance: i.instance } })}
        >
          {t.fleet.viewRuns}
        </MenuItem>
      </Menu>
      {dialog === "drain" && <DrainDialog instance={i} onDrain={drain.mutateAsync} onClose={close} />}
      {dialog === "settings" && <InstanceSettingsDialog instance={i} onClose={close} />}
    </span>
  );
}

/** Has an instance leave, which a toast takes back. A dialog asks before that, and says why it was refused. */
function useDrain(i: Instance, takeBack: () => void) {
  const t = usePageT();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (within: string | undefined) => drainInstance(i.executor_group, i.instance, within),
    onSuccess: (reply, within) => {
      void client.invalidateQueries({ queryKey: groupsQuery.queryKey });
      const unheard = within !== undefined && !reply.drain_by;
      toast({
        text: unheard ? t.fleet.drainNoLimit(i.instance) : t.fleet.draining(i.instance),
        action: { label: t.act.undo, run: takeBack },
      });
    },
  });
}

/** Tells an instance something, which a toast takes back. */
function useOrder(i: Instance) {
  const t = usePageT();
  const client = useQueryClient();
  const complain = useComplain();
  const said = { cordon: t.fleet.cordoned, uncordon: t.fleet.resumed };
  const mutation = useMutation({
    mutationFn: (order: Exclude<InstanceOrder, "drain">) =>
      orderInstance(i.executor_group, i.instance, order),
    onError: complain,
    onSuccess: (_, order) => {
      void client.invalidateQueries({ queryKey: groupsQuery.queryKey });
      toast({
        text: said[order](i.instance),
        action:
          order === "uncordon" ? undefined : { label: t.act.undo, run: () => mutation.mutate("uncordon") },
      });
    },
  });
  return mutation;
}
