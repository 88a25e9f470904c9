import { useMutation, useQueryClient } from "@tanstack/react-query";
import { groupsQuery } from "@/api/cluster";
import { pauseGroup } from "@/api/groups";
import { jobsKey } from "@/api/jobs";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";

interface Wish {
  paused: boolean;
  note?: string;
  until?: string;
}

/** Pauses or resumes all jobs of a group, which a toast takes back. */
export function useGroupPause(group: string) {
  const t = usePageT();
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: ({ paused, note = "", until }: Wish) => pauseGroup(group, paused, note, until),
    onSuccess: (_, { paused }) => {
      for (const queryKey of [groupsQuery.queryKey, jobsKey, ["schedule"]]) {
        void client.invalidateQueries({ queryKey });
      }
      toast({
        text: paused ? t.fleet.pause.done(group) : t.fleet.pause.undone(group),
        action: { label: t.act.undo, run: () => mutation.mutate({ paused: !paused }) },
      });
    },
  });
  return mutation;
}
