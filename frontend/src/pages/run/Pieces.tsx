import { Link } from "@tanstack/react-router";
import { ChevronDown } from "lucide-react";
import type { Run } from "@/api/schema.gen";
import { Menu, MenuChoice, MenuLine } from "@/components/Menu";
import { Status } from "@/components/Status";
import { usePageWords } from "@/lib/format";
import { linesOf } from "@/lib/ids";
import { useSayer } from "@/lib/reason";
import { isLiving, tones } from "@/lib/status";

/** More pieces than this are shown as cells without words. */
const worded = 64;

interface PickerProps {
  total: number;
  chosen: number | undefined;
  onChoose(piece: number | "run"): void;
}

interface PiecesProps extends PickerProps {
  run: Run;
  /** Those of which something was heard, by their index. */
  pieces: Run[];
}

/** The pieces of a run: how each does. One that is chosen has its log shown. */
export function Pieces({ run, total, pieces, chosen, onChoose }: PiecesProps) {
  const { t } = usePageWords();
  const { say } = useSayer();
  const by = new Map(pieces.map((p) => [p.broadcast_index ?? 0, p]));
  const done = pieces.filter((p) => !isLiving(p.status)).length;
  const running = pieces.filter((p) => p.status === "running").length;
  const small = total > worded;
  return (
    <section>
      <h2>
        {t.run.pieces}
        <span className="right mut num">{t.run.piecesDone(done, running, total)}</span>
      </h2>
      <div className={small ? "pieces small" : "pieces"}>
        {Array.from({ length: total }, (_, i) => {
          const piece = by.get(i);
          const status = piece?.status ?? "pending";
          const share = piece?.status === "running" ? (piece.percent ?? 0) : isLiving(status) ? 0 : 100;
          return (
            <button
              type="button"
              // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its index
              key={i}
              className={i === chosen ? "piece on" : "piece"}
              aria-pressed={i === chosen}
              aria-label={t.run.piece(i, t.status[status])}
              title={[t.run.piece(i, t.status[status]), piece?.instance, say(piece?.message ?? piece?.reason)]
                .filter(Boolean)
                .join(" · ")}
              onClick={() => onChoose(i)}
            >
              {!small && (
                <span className="row">
                  <b className="num">{i}</b>
                  <span className="right">
                    {piece?.status === "running" && piece.percent ? (
                      <span className="num c-run">{Math.round(piece.percent)}%</span>
                    ) : (
                      <Status status={status} bare />
                    )}
                  </span>
                </span>
              )}
              <span className="bar">
                <i className={`b-${tones[status]}`} style={{ width: `${small && piece ? 100 : share}%` }} />
              </span>
            </button>
          );
        })}
      </div>
      <div className="textlinks">
        <button
          type="button"
          className="textlink"
          aria-pressed={chosen === undefined}
          onClick={() => onChoose("run")}
        >
          {t.run.wholeLog}
        </button>
        <Link to="/logs" search={linesOf(run)} className="textlink">
          {t.run.allPieces}
        </Link>
      </div>
    </section>
  );
}

/** So many pieces are listed to choose from; the grid beside the log has all. */
const mostListed = 200;

/** Above the log: of which piece it is. */
export function PiecePicker({ total, chosen, onChoose }: PickerProps) {
  const { t } = usePageWords();
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="chip b">
          {chosen === undefined ? t.run.wholeRun : t.run.pieceOf(chosen, total)}
          <ChevronDown size={13} aria-hidden />
        </button>
      }
    >
      <MenuChoice on={chosen === undefined} onSelect={() => onChoose("run")}>
        {t.run.wholeLog}
      </MenuChoice>
      <MenuLine />
      {Array.from({ length: Math.min(total, mostListed) }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its index
        <MenuChoice key={i} on={i === chosen} onSelect={() => onChoose(i)}>
          {t.run.pieceOf(i, total)}
        </MenuChoice>
      ))}
    </Menu>
  );
}
