import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { whyQuery } from "@/api/why";
import { Empty, Failed, Skeleton } from "@/components/Panel";
import { instantToWall, usePageWords } from "@/lib/format";
import { refOf } from "@/lib/jobref";
import { Page } from "@/shell/Page";
import { WhyForm } from "@/shell/WhyForm";
import { Answer } from "./Answer";

/** Why a job ran, or did not run, at one time. */
export default function WhyPage() {
  const { t } = usePageWords();
  const { job = "", at = "" } = useSearch({ from: "/why" });
  const isAsked = job !== "" && at !== "";
  const asked = useQuery({ ...whyQuery(refOf(job), at), enabled: isAsked });
  const answer = asked.data;
  const shown = answer ? instantToWall(answer.at, answer.zone) : at.length === 16 ? at : "";
  return (
    <Page crumbs={[{ text: t.whyForm.title }]}>
      <div className="pad grid">
        <WhyForm asked={{ job, at: shown }} zone={answer?.zone} />
        <div role="status">
          {asked.isError ? (
            <Failed error={asked.error} onRetry={() => void asked.refetch()} />
          ) : answer ? (
            <Answer answer={answer} />
          ) : isAsked ? (
            <Skeleton rows={4} />
          ) : (
            <Empty title={t.why.empty} />
          )}
        </div>
      </div>
    </Page>
  );
}
