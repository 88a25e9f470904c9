package sqlite

import (
	"context"
	"fmt"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// openWaitsQuery ranks the steps that wait within their groups, by what an index has of them, and reads the rows of the
// first ranks. The condition is that of the index, word for word.
const openWaitsQuery = "SELECT " + attemptColumns + ` FROM (
  SELECT run_id, attempt FROM (
    SELECT run_id, attempt, row_number() OVER (PARTITION BY grp ORDER BY run_id, attempt) AS nth FROM (
      SELECT run_id, attempt, substr(name, 1, instr(name, '/') - 1) AS grp
      FROM runs INDEXED BY runs_waits JOIN jobs ON jobs.id = runs.job
      WHERE wait <> '' AND status = 1 AND wait ->> 'kind' = ?
    )%s
  ) ORDER BY nth, run_id, attempt LIMIT ?
) JOIN runs USING (run_id, attempt) ORDER BY run_id, attempt`

// OpenWaits implements [logstore.Store].
func (h *runHistory) OpenWaits(ctx context.Context, f logstore.WaitFilter) ([]runlog.Run, error) {
	of, args := "", []any{string(f.Kind)}
	if f.Groups != nil {
		part, values := inGroups(f.Groups)
		of, args = " WHERE "+part, append(args, values...)
	}
	rows, err := h.prepared.query(ctx, fmt.Sprintf(openWaitsQuery, of), append(args, f.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("list open waits: %w", err)
	}
	entries, err := h.scan(rows, false)
	if err != nil {
		return nil, fmt.Errorf("list open waits: %w", err)
	}
	return asRuns(entries), nil
}
