import type { ReactNode } from "react";
import { CopyIconButton } from "@/components/Copy";
import { writeJson } from "@/lib/exact";

interface RowProps {
  name: string;
  className?: string;
  /** Without it there is no row. */
  children: ReactNode;
}

/** One thing that is known of a run, in a list of them (dl). */
export function Row({ name, className, children }: RowProps) {
  if (children === undefined || children === null || children === false) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd className={className}>{children}</dd>
    </>
  );
}

/** The exit code of an attempt, if it has one. */
export function ExitCode({ name, code }: { name: string; code: number | undefined }) {
  return (
    <Row name={name} className={code === 0 ? "num" : "num c-bad"}>
      {code}
    </Row>
  );
}

/** Why a run failed, or is as it is. */
export function Why({ title, bad, text, children }: WhyProps) {
  if (!text) return null;
  return (
    <section>
      <h2>{title}</h2>
      <div className={bad ? "errbox" : "note info"}>
        <code>{text}</code>
        <CopyIconButton text={text} />
      </div>
      {children}
    </section>
  );
}

interface WhyProps {
  title: string;
  bad: boolean;
  /** Without it nothing is drawn. */
  text: string | undefined;
  children?: ReactNode;
}

/** A JSON value that a run was given or has returned. Null is none. */
export function Json({ title, tag, value }: { title: string; tag?: string; value: unknown }) {
  if (value === undefined || value === null) return null;
  const text = typeof value === "string" ? value : writeJson(value, 2);
  return (
    <section>
      <h2>
        {title}
        <span className="right row g2">
          {tag && <span className="tag">{tag}</span>}
          <CopyIconButton text={text} />
        </span>
      </h2>
      <pre className="jsonbox" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}
