import { Basics } from "./Basics";
import { DatesFold } from "./DatesFold";
import { FollowFold } from "./FollowFold";
import { LimitsFold } from "./LimitsFold";
import { OverlapFold } from "./OverlapFold";
import { OwnerFold } from "./OwnerFold";
import { ScheduleSection } from "./ScheduleSection";
import type { SectionProps } from "./Section";
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
      <OverlapFold {...section} />
      <LimitsFold {...section} />
      <WhereFold {...section} />
      <OwnerFold {...section} />
      <TargetFold {...section} />
      <FollowFold {...section} />
    </>
  );
}
