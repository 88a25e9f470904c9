package clickhouse

import (
	"context"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// ofSteps are the columns that tell what became of steps, and which rows count.
var ofSteps = columns{
	"run_id", "attempt", "fire_time", "sign", "revision", "job", "status", "run_status", "cause", "started_at", "finished_at",
	"message", "reason", "end_reason", "parent_run_id", "step", "wait",
}

// StepRuns implements [logstore.Store]. Steps have the fire time of their workflow, which leads to them.
func (h *runHistory) StepRuns(ctx context.Context, filter logstore.StepFilter) (logstore.StepPage, error) {
	if err := filter.Validate(); err != nil {
		return logstore.StepPage{}, err
	}
	if err := h.Prepare(ctx); err != nil {
		return logstore.StepPage{}, err
	}
	workflows := make(map[place]bool, len(filter.Workflows))
	for _, id := range filter.Workflows {
		workflows[placeOf(id, runlog.Whole)] = true
	}
	ctx, err := withPlaces(ctx, workflows)
	if err != nil {
		return logstore.StepPage{}, err
	}
	most := filter.Most()
	for ask := spare(most); ; ask *= 4 {
		all, err := h.read(ctx, ofSteps, fmt.Sprintf(" WHERE fire_time IN (SELECT fire_time FROM wanted) AND parent_run_id IN (SELECT run_id FROM wanted)"+
			" AND broadcast_index = -1 AND step != ''%s, toUInt128(parent_run_id) DESC LIMIT %d", byInstant, ask))
		if err != nil {
			return logstore.StepPage{}, fmt.Errorf("read steps of runs: %w", err)
		}
		cut := len(all) == ask
		if cut { // perhaps within the rows of one attempt
			last := all[ask-1].parent
			all = slices.DeleteFunc(all, func(r stored) bool { return r.parent == last })
		}
		rows := standing(all)
		if cut && len(rows) <= most {
			continue
		}
		var steps logstore.StepFold
		for i := range rows {
			r := rows[i].run()
			steps.Add(&r)
		}
		return steps.Page(most), nil
	}
}
