/** How much of a whole something is, as a bar beside its figure. The share is from 0 to 1. */
export function ShareBar({ share }: { share: number }) {
  return (
    <span className="bar elapsed" aria-hidden>
      <i className="b-accent" style={{ width: `${share * 100}%` }} />
    </span>
  );
}
