interface PipsProps {
  used: number;
  slots: number;
  draining?: boolean;
}

/** More slots than this are drawn as a bar: nobody counts them. */
const most = 48;

/** An instance's slots, one square each, those in use filled. */
export function Pips({ used, slots, draining }: PipsProps) {
  const tone = draining ? "drain" : "";
  if (slots > most) {
    return (
      <span className={`pips wide ${tone}`} aria-hidden>
        <i style={{ width: `${Math.min(100, (used / slots) * 100)}%` }} />
      </span>
    );
  }
  return (
    <span
      className={`pips ${tone}`}
      style={{ gridTemplateColumns: `repeat(${slots > 16 ? 16 : Math.min(slots, 8)}, 6px)` }}
      aria-hidden
    >
      {Array.from({ length: slots }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: slots have no other name
        <i key={i} className={i < used ? "on" : undefined} />
      ))}
    </span>
  );
}
