interface LegendProps {
  /** The class of each mark, and what it stands for. */
  marks: [look: string, means: string][];
}

/** What the marks of a chart stand for. */
export function Legend({ marks }: LegendProps) {
  return (
    <span className="row g3 hide-s">
      {marks.map(([look, means]) => (
        <span key={look} className="leg">
          <i className={look} />
          {means}
        </span>
      ))}
    </span>
  );
}
