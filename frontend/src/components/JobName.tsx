import { Link } from "@tanstack/react-router";

/** A job's name and its group in a cell, as far as there is room for them; pointing tells all of it. */
export function JobName({ group, name }: { group: string; name: string }) {
  return (
    <span className="jobname" title={`${group}/${name}`}>
      <Link to="/jobs/$group/$name" params={{ group, name }} className="name trunc">
        {name}
      </Link>{" "}
      <span className="mut trunc">{group}</span>
    </span>
  );
}
