import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { holdQuery } from "@/api/cluster";
import { jobFacets } from "@/api/jobs";
import type { Group } from "@/api/schema.gen";
import { Card } from "@/components/Panel";
import { Table } from "@/components/Table";
import { usePageT } from "@/i18n";
import { isMoving, type Move, movesOf, tag } from "./moves";

/** How far each group has come on its way from XXL-JOB, until all have arrived. Without imported jobs there is nothing to see. */
export function MoveCard({ groups }: { groups: Group[] }) {
  const t = usePageT();
  const c = t.fleet.move;
  const where = [`tag:${tag}`];
  const imported = useQuery(jobFacets({ where })).data?.items.group ?? [];
  const paused = useQuery({ ...jobFacets({ where, paused: true }), enabled: imported.length > 0 }).data;
  const hold = useQuery({ ...holdQuery, enabled: imported.length > 0 }).data;
  if (!paused || !hold) return null;
  const moves = movesOf(imported, paused.items.group ?? [], groups, hold.paused);
  if (!isMoving(moves, hold.paused)) return null;
  return (
    <Card title={c.title} note={c.note(moves.filter((m) => m.stage === "moved").length, moves.length)}>
      <Table heads={[c.group, { right: c.jobs }, c.executors, c.stage]}>
        {moves.map((m) => (
          <MoveRow key={m.group} move={m} />
        ))}
      </Table>
    </Card>
  );
}

const tones: Record<Move["stage"], string> = { away: "c-warn", attached: "", moved: "c-ok" };

function MoveRow({ move: m }: { move: Move }) {
  const c = usePageT().fleet.move;
  return (
    <tr>
      <td>
        <Link to="/executors/$group" params={{ group: m.group }} className="name">
          {m.group}
        </Link>
      </td>
      <td className="r num">
        <Link to="/jobs" search={{ group: [m.group], tag: [tag] }} className="plain">
          {c.count(m.jobs, m.paused)}
        </Link>
      </td>
      <td className="mono">{m.attached.length > 0 ? m.attached.join(", ") : "—"}</td>
      <td className={tones[m.stage]}>{c.stages[m.stage]}</td>
    </tr>
  );
}
