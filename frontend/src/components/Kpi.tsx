import type { ReactNode } from "react";

interface KpiProps {
  label: string;
  value: string;
  unit?: string;
  foot?: ReactNode;
  /** Which way it went. */
  spark?: ReactNode;
  bad?: boolean;
  /** The value is a text, and smaller. */
  fit?: boolean;
}

/** One figure of a strip, with what it is and what to compare it with. */
export function Kpi({ label, value, unit, foot, spark, bad, fit }: KpiProps) {
  return (
    <div className="kpi">
      <span className="l">{label}</span>
      <span className={`v${bad ? " c-bad" : ""}${fit ? " fit" : ""}`}>
        {value}
        {unit && <small>{unit}</small>}
      </span>
      <span className="f">
        {spark ? <span>{foot}</span> : foot}
        {spark}
      </span>
    </div>
  );
}
