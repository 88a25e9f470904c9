import { useT } from "@/i18n";
import { problemOf } from "@/lib/problem";
import { useSayer } from "@/lib/reason";

/** Why the server refused what was sent: what is wrong with each field, else its own words. */
export function Refusal({ error }: { error: unknown }) {
  const t = useT();
  const { sayError } = useSayer();
  if (!error) return null;
  const { code } = problemOf(error);
  return (
    <p className="ferr" role="alert">
      {code === "precondition_failed" ? t.error.codes[code] : sayError(error)}
    </p>
  );
}
