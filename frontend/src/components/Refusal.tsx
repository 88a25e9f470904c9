import { useT } from "@/i18n";
import { problemOf } from "@/lib/problem";

/** Why the server refused what was sent: what is wrong with each field, else its own words. */
export function Refusal({ error }: { error: unknown }) {
  const t = useT();
  if (!error) return null;
  const problem = problemOf(error);
  const ours = t.error.codes[problem.code];
  return (
    <p className="ferr" role="alert">
      {problem.code === "precondition_failed"
        ? ours
        : (problem.errors?.map((x) => `${x.field} ${x.reason}`).join("; ") ?? problem.detail ?? ours)}
    </p>
  );
}
