import { useMutation, useQueryClient } from "@tanstack/react-query";
import { groupsQuery } from "@/api/cluster";
import { pauseGroup } from "@/api/groups";
import { jobsKey } from "@/api/jobs";
import { scheduleKey } from "@/api/schedule";
import type { Group } from "@/api/schema.gen";
import { toast } from "@/components/Toasts";
import { usePageT } from "@/i18n";
import { useComplain } from "@/shell/actions";

interface Wish {
  paused: boolean;
  note?: string;
  until?: string;
}

/** Pauses or resumes all jobs of a group, which a toast takes back. was is how it is paused now. */
export function useGroupPause(group: string, was: Group["pause"]) {
  const t = usePageT();
  const complain = useComplain();
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: ({ paused, note = "", until }: Wish) => pauseGroup(group, paused, note, until),
    onMutate: () => was,
    onSuccess: (_, { paused }, before) => {
      for (const queryKey of [groupsQuery.queryKey, jobsKey, scheduleKey]) {
        void client.invalidateQueries({ queryKey });
      }
      const back = paused ? { paused: false } : { paused: true, note: before?.note, until: before?.until };
      toast({
        text: paused ? t.fleet.pause.done(group) : t.fleet.pause.undone(group),
        action: { label: t.act.undo, run: () => mutation.mutate(back, { onError: complain }) },
      });
    },
  });
  return mutation;
}
