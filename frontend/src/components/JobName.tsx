import { Link } from "@tanstack/react-router";
import { refOf } from "@/lib/jobref";
import { useJobTitle } from "./JobTitle";

/** A job as people call it and its key in a cell, as far as there is room for them; pointing tells all of it. */
export function JobName({ group, name }: { group: string; name: string }) {
  const title = useJobTitle(`${group}/${name}`);
  return (
    <span className="jobname" title={`${group}/${name}`}>
      <Link to="/jobs/$group/$name" params={{ group, name }} className="name trunc" dir="auto">
        {title}
      </Link>{" "}
      <span className="mut trunc">{title === name ? group : `${group}/${name}`}</span>
    </span>
  );
}

/** The key of a job as a link to it, also in a row that can be clicked. */
export function JobLink({ job }: { job: string | undefined }) {
  if (job === undefined) return null;
  return (
    <Link
      to="/jobs/$group/$name"
      params={refOf(job)}
      className="link mono trunc"
      onClick={(e) => e.stopPropagation()}
    >
      {job}
    </Link>
  );
}
