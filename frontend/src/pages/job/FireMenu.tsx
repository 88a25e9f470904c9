import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis, FileText, SkipForward, Undo2, Zap } from "lucide-react";
import { useState } from "react";
import { refreshJobs, unskipFire } from "@/api/jobs";
import { scheduleKey } from "@/api/schedule";
import type { Fire, Job } from "@/api/schema.gen";
import { Menu, MenuItem } from "@/components/Menu";
import { runsElsewhere } from "@/lib/elsewhere";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { useNow } from "@/lib/now";
import { useComplain } from "@/shell/actions";
import { FireDialog } from "@/shell/FireDialog";
import { useMay } from "@/shell/may";

/** What one may do with a fire that is ahead: skip it, run it now instead, or have it run after all. */
export function FireMenu({ job: definition, fire }: { job: Job; fire: Fire }) {
  const { job } = definition;
  const { t, f } = usePageWords();
  const now = useNow();
  const navigate = useNavigate();
  const client = useQueryClient();
  const complain = useComplain();
  const operates = useMay()("operate", refOf(job).group);
  const [asking, setAsking] = useState<"skip" | "early">();
  const back = useMutation({
    mutationFn: () => unskipFire(refOf(job), fire.fire_time),
    onError: complain,
    onSuccess: () => {
      void refreshJobs(client);
      void client.invalidateQueries({ queryKey: scheduleKey });
    },
  });
  const ran = fire.skip?.run_id;
  if (fire.skipped && !fire.skip) return null;
  return (
    <>
      <Menu
        trigger={
          <button
            type="button"
            className="ic"
            disabled={!operates && !ran}
            title={operates || ran ? undefined : t.signIn.needs}
            aria-label={t.fire.menu(f.short(fire.fire_time, now))}
          >
            <Ellipsis size={14} aria-hidden />
          </button>
        }
      >
        {ran ? (
          <MenuItem
            icon={FileText}
            onSelect={() => void navigate({ to: "/runs/$runId", params: { runId: ran } })}
          >
            {t.act.openRun}
          </MenuItem>
        ) : fire.skip ? (
          <MenuItem icon={Undo2} onSelect={() => back.mutate()}>
            {t.fire.back}
          </MenuItem>
        ) : (
          <>
            <MenuItem icon={SkipForward} onSelect={() => setAsking("skip")}>
              {t.fire.skip.item}
            </MenuItem>
            {!runsElsewhere(definition) && (
              <MenuItem icon={Zap} onSelect={() => setAsking("early")}>
                {t.fire.early.item}
              </MenuItem>
            )}
          </>
        )}
      </Menu>
      {asking && (
        <FireDialog job={job} fireTime={fire.fire_time} act={asking} onClose={() => setAsking(undefined)} />
      )}
    </>
  );
}
