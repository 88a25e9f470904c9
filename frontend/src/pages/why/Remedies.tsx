import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { backfill, backfillsKey } from "@/api/backfill";
import { pauseGroup } from "@/api/groups";
import { refreshJobs, unskipFire } from "@/api/jobs";
import type { Answer } from "@/api/schema.gen";
import { whyKey } from "@/api/why";
import { Button } from "@/components/Button";
import { toast } from "@/components/Toasts";
import { usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { kiosk } from "@/lib/kiosk";
import { useComplain, usePause, useRunNow } from "@/shell/actions";
import { useShell } from "@/shell/context";

type Kind = Answer["remedies"][number];

/** The pages where one can do something, by remedy. The others do it themselves. */
const places: Partial<Record<Kind, (a: Answer) => LinkProps>> = {
  edit: (a) => ({ to: "/jobs/$group/$name/edit", params: refOf(a.job) }),
  edit_calendar: () => ({ to: "/calendars" }),
  start_executor: (a) => ({ to: "/executors/$group", params: { group: refOf(a.job).group } }),
  earlier_runs: (a) => ({ to: "/runs", search: { job: [a.job], status: ["running", "pending", "queued"] } }),
  open_run: (a) => ({ to: "/runs/$runId", params: { runId: a.run_id ?? "" } }),
  open_servers: () => ({ to: "/cluster" }),
  open_ledger: (a) => ({ to: "/jobs/$group/$name/$tab", params: { ...refOf(a.job), tab: "ledger" } }),
};

/** What helps after an answer, the most useful first. The server leaves out what the reader may not. */
export function Remedies({ answer: a }: { answer: Answer }) {
  const { t } = usePageWords();
  const acts = useActs(a);
  return (
    <div className="acts">
      {a.remedies.map((kind, i) => {
        const place = places[kind];
        const act = acts[kind];
        if (place)
          return (
            <Link key={kind} {...place(a)} className={i === 0 ? "btn pri" : "btn"}>
              {t.why.remedies[kind]}
            </Link>
          );
        return (
          act &&
          !kiosk && (
            <Button key={kind} look={i === 0 ? "primary" : undefined} busy={act.busy} onClick={act.go}>
              {t.why.remedies[kind]}
            </Button>
          )
        );
      })}
    </div>
  );
}

/** What a click does, by remedy. Then the question is asked again. */
function useActs(a: Answer): Partial<Record<Kind, { go(): void; busy?: boolean }>> {
  const { t } = usePageWords();
  const client = useQueryClient();
  const { openEverything } = useShell();
  const pause = usePause();
  const run = useRunNow();
  const onError = useComplain();
  const ref = refOf(a.job);
  const again = () => void client.invalidateQueries({ queryKey: whyKey });
  const { mutate, isPending, variables } = useMutation({
    mutationFn: async (kind: "resume_group" | "unskip" | "backfill") => {
      const from = a.fire_time ?? a.at;
      if (kind === "resume_group") return pauseGroup(ref.group, false, "");
      if (kind === "unskip") return unskipFire(ref, from);
      const to = new Date(Date.parse(from) + 1).toISOString();
      return backfill(ref, { from, to, only: a.verdict === "missed" ? "missed" : "skipped" });
    },
    onError,
    onSuccess: (_, kind) => {
      toast({ text: t.why.done[kind] });
      void refreshJobs(client);
      void client.invalidateQueries({ queryKey: backfillsKey(ref) });
      again();
    },
  });
  const changes = (kind: "resume_group" | "unskip" | "backfill") => ({
    go: () => mutate(kind),
    busy: isPending && variables === kind,
  });
  return {
    resume_job: {
      go: () => pause.mutate({ job: a.job, paused: false }, { onSuccess: again }),
      busy: pause.isPending,
    },
    resume_group: changes("resume_group"),
    resume_all: { go: openEverything },
    unskip: changes("unskip"),
    backfill: changes("backfill"),
    run: { go: () => run.mutate({ job: a.job }), busy: run.isPending },
  };
}
