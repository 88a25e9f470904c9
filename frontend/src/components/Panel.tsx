import { CircleAlert, Lock, type LucideIcon, RefreshCw, SearchX } from "lucide-react";
import type { ReactNode } from "react";
import { useT } from "@/i18n";
import { problemOf } from "@/lib/problem";
import { useSayer } from "@/lib/reason";
import { Button } from "./Button";
import { CopyButton } from "./Copy";

interface CardProps {
  title?: ReactNode;
  aside?: ReactNode;
  note?: ReactNode;
  className?: string;
  children: ReactNode;
}

export function Card({ title, aside, note, className = "", children }: CardProps) {
  return (
    <section className={`card ${className}`}>
      {title && (
        <div className="h">
          <h2>{title}</h2>
          {note && <span className="mut note-s">{note}</span>}
          {aside && <div className="right row g3">{aside}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** Nothing to show: what that means, and what to do about it. */
export function Empty({
  icon: Icon,
  title,
  hint,
  children,
}: {
  icon?: LucideIcon;
  title: string;
  hint?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      {Icon && (
        <span className="ico big">
          <Icon size={20} aria-hidden />
        </span>
      )}
      <p className="title">{title}</p>
      {hint && <p className="sec">{hint}</p>}
      {children && <div className="row g2 wrap center">{children}</div>}
    </div>
  );
}

/** A part of a page that could not be loaded, inside that part; the others stay alive. */
export function Failed({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const t = useT();
  const { sayError } = useSayer();
  const problem = problemOf(error);
  if (problem.code === "not_found")
    return (
      <Empty icon={SearchX} title={t.error.gone} hint={t.error.pageHint}>
        {onRetry && (
          <Button icon={RefreshCw} onClick={onRetry}>
            {t.act.retry}
          </Button>
        )}
      </Empty>
    );
  if (problem.code === "forbidden")
    return <Empty icon={Lock} title={t.error.notAllowed} hint={sayError(error)} />;
  return (
    <div className="empty" role="alert">
      <span className="ico big c-bad">
        <CircleAlert size={20} aria-hidden />
      </span>
      <p className="title">{t.error.title}</p>
      <p className="sec">{t.error.codes[problem.code] ?? problem.title}</p>
      {problem.detail && <p className="mut">{sayError(error)}</p>}
      {problem.request_id && <p className="mut mono">{t.error.requestId(problem.request_id)}</p>}
      <div className="row g2 wrap center">
        {onRetry && (
          <Button icon={RefreshCw} onClick={onRetry}>
            {t.act.retry}
          </Button>
        )}
        <CopyButton text={JSON.stringify(problem, null, 2)} label={t.act.copyDetails} />
      </div>
    </div>
  );
}

/** Grey shapes in the place of what is being loaded. They appear after a moment, so that quick answers do not flicker. */
export function Skeleton({ rows = 8, height = 34 }: { rows?: number; height?: number }) {
  return (
    <div className="skeleton" aria-busy="true" role="status">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={i} style={{ height }}>
          <i style={{ width: `${30 + ((i * 37) % 50)}%` }} />
        </div>
      ))}
    </div>
  );
}
