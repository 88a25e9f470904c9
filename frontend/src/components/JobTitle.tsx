import { createContext, useContext } from "react";
import { refOf } from "@/lib/jobref";

/** A hook that returns the title of a job, empty if it has none. The shell provides it. */
export const UseTitle = createContext<(job: string | undefined) => string>(() => "");

/** What people call a job: its title, or else its name. */
export function useJobTitle(job: string | undefined): string {
  const useTitle = useContext(UseTitle);
  return useTitle(job) || refOf(job ?? "").name;
}

interface JobTitleProps {
  job: string;
  /** A job without a title is called by its group and name: for places that do not tell the group. */
  keyed?: boolean;
  className?: string;
}

/** A job as people call it; pointing tells its group and name. */
export function JobTitle({ job, keyed, className }: JobTitleProps) {
  const title = useJobTitle(job);
  return (
    <span className={className} title={job} dir="auto">
      {keyed && title === refOf(job).name ? job : title}
    </span>
  );
}
