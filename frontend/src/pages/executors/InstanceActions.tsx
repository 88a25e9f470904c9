import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleSlash2, Ellipsis, Hourglass, List, Play, SlidersHorizontal } from "lucide-react";
import { useState } from "react";
import { groupsQuery } from "@/api/cluster";
import { type InstanceOrder, orderInstance } from "@/api/groups";
import type { Instance } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Menu, MenuItem, MenuLine } from "@/components/Menu";
import { toast } from "@/components/Toasts";
import { useComplain } from "@/shell/actions";
import { useMay } from "@/shell/may";
import { DrainDialog } from "./DrainDialog";
import { InstanceSettingsDialog } from "./InstanceSettingsDialog";
import { useFleetT } from "./texts";

/** What can be done with an instance: drain it, or have it take runs again, at once; the rest in a menu. */
export function InstanceActions({ instance: i }: { instance: Instance }) {
  const t = useFleetT();
  const [dialog, setDialog] = useState<"drain" | "settings">();
  const operates = useMay()("operate", i.executor_group);
  const navigate = useNavigate();
  const order = useOrder(i);
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
      {dialog === "drain" && (
        <DrainDialog instance={i} onDrain={() => order.mutateAsync("drain")} onClose={close} />
      )}
      {dialog === "settings" && <InstanceSettingsDialog instance={i} onClose={close} />}
    </span>
  );
}

/** Tells an instance something, which a toast takes back. */
function useOrder(i: Instance) {
  const t = useFleetT();
  const client = useQueryClient();
  const complain = useComplain();
  const said = { drain: t.fleet.draining, cordon: t.fleet.cordoned, uncordon: t.fleet.resumed };
  const mutation = useMutation({
    mutationFn: (order: InstanceOrder) => orderInstance(i.executor_group, i.instance, order),
    onError: (error, order) => order !== "drain" && complain(error), // a dialog asks before that, and says it
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
