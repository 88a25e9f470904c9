import { runsElsewhere } from "@/lib/elsewhere";
import { Basics } from "./Basics";
import { DatesFold } from "./DatesFold";
import { FollowFold } from "./FollowFold";
import { LimitsFold } from "./LimitsFold";
import { OverlapFold } from "./OverlapFold";
import { OwnerFold } from "./OwnerFold";
import { ScheduleSection } from "./ScheduleSection";
import { isWrong, type SectionProps } from "./Section";
import { StepsSection } from "./StepsSection";
import { TargetFold } from "./TargetFold";
import { TaskSection } from "./task/TaskSection";
import { WhereFold } from "./WhereFold";

interface JobFormProps extends SectionProps {
  /** What the preview finds wrong with the schedule, by the path of the field. */
  wrong: ReadonlyMap<string, string>;
  isNew: boolean;
  /** Which step of a workflow shows its fields. */
  openStep: number | undefined;
  onOpenStep(step: number | undefined): void;
}

/** A job as a form: what each job needs, and folds for what most jobs do without. */
export function JobForm({ wrong, isNew, openStep, onOpenStep, ...section }: JobFormProps) {
  const scheduled = { ...section, errors: new Map([...wrong, ...section.errors]) };
  // What only executors use has no place in a job whose runs are done elsewhere, unless it is there.
  const shows = (...fields: string[]) => !runsElsewhere(section.doc) || isWrong(section.errors, ...fields);
  return (
    <>
      <Basics {...section} isNew={isNew} />
      <ScheduleSection {...scheduled} />
      {section.doc.steps === undefined ? (
        <TaskSection {...section} />
      ) : (
        <StepsSection {...section} open={openStep} onOpen={onOpenStep} />
      )}
      <DatesFold {...scheduled} />
      {shows("overlap", "misfire") && <OverlapFold {...section} />}
      <LimitsFold {...section} />
      {shows("route", "labels", "priority", "map") && <WhereFold {...section} />}
      <OwnerFold {...section} />
      <TargetFold {...section} />
      <FollowFold {...section} />
    </>
  );
}
