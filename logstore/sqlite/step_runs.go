package sqlite

import (
	"context"
	"fmt"
	"strings"

	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/sqlite/file"
)

// stepColumns are attemptColumns without what a page of steps does not tell. How a called job's run (cause 6) ended
// depends on the reason.
const stepColumns = "run_id, attempt, 0, state, 0, 0, job, version, status, cause, 0, 0, 0, started_at, finished_at, 0, 0, NULL, reported, ruled, ruled_at, " +
	"0, 1, 0, 0, parent, '', '', step, wait, '', 0, iif(cause = 6, reason, ''), iif(cause = 6, end_reason, ''), '', iif(cause = 6, message, '')"

// StepRuns implements [logstore.Store].
func (h *runHistory) StepRuns(ctx context.Context, filter logstore.StepFilter) (logstore.StepPage, error) {
	if err := filter.Validate(); err != nil {
		return logstore.StepPage{}, err
	}
	most := filter.Most()
	args := make([]any, 0, len(filter.Workflows)+1)
	for _, id := range filter.Workflows {
		args = append(args, file.PackID(id))
	}
	rows, err := h.reads.QueryContext(ctx, stepsQuery(len(args)), append(args, most+1)...) // one more tells that there are others
	if err != nil {
		return logstore.StepPage{}, fmt.Errorf("read steps of runs: %w", err)
	}
	var steps logstore.StepFold
	if err := h.each(rows, false, func(e *entry) { steps.Add(&e.Run) }); err != nil {
		return logstore.StepPage{}, fmt.Errorf("read steps of runs: %w", err)
	}
	return steps.Page(most), nil
}

// stepsQuery returns the statement for the attempts of the steps of so many workflows. Its index has their order.
func stepsQuery(workflows int) string {
	return "SELECT " + stepColumns + " FROM runs INDEXED BY runs_by_parent WHERE parent IS NOT NULL AND parent IN (?" +
		strings.Repeat(", ?", workflows-1) + ") AND step <> '' ORDER BY parent DESC LIMIT ?"
}
