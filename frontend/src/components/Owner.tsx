import { lettersOf } from "@/lib/letters";
import { colourOf } from "./TaskIcon";

/** Who answers for a job: their letters on a colour of their own, and the name. */
export function Owner({ name }: { name: string }) {
  return (
    <span className="row g2 owner" title={name}>
      <Letters name={name} />
      <span className="trunc">{name}</span>
    </span>
  );
}

/** The letters of somebody on a colour of their own. */
export function Letters({ name }: { name: string }) {
  return (
    <span
      className="av"
      style={{ background: `color-mix(in srgb, ${colourOf(name)} 70%, black)` }}
      aria-hidden
    >
      {lettersOf(name)}
    </span>
  );
}
