import type { Session } from "@/api/schema.gen";
import { Button } from "@/components/Button";
import { Ago } from "@/components/Time";
import { usePageT } from "@/i18n";
import { agentName } from "@/lib/agent";

interface SessionListProps {
  sessions: Session[];
  /** The one that is being ended. */
  ending?: string;
  /** Without it, none can be ended by itself. */
  onEnd?(session: string): void;
}

/** From where somebody is signed in. */
export function SessionList({ sessions, ending, onEnd }: SessionListProps) {
  const t = usePageT();
  const s = t.settings;
  return (
    <ul className="list">
      {sessions.map((x) => (
        <li key={x.id} className="li">
          <span className="grow two-lines" title={x.user_agent}>
            <b>
              {agentName(x.user_agent ?? "") || s.unknownAgent}
              {x.current && <span className="tag tight">{s.thisOne}</span>}
            </b>
            <span className="mut trunc">
              {x.address} · {s.signedIn} <Ago at={x.created_at} /> · {s.seen} <Ago at={x.seen_at} />
            </span>
          </span>
          {onEnd && !x.current && (
            <Button small busy={ending === x.id} onClick={() => onEnd(x.id)}>
              {s.end}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
