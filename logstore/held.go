package logstore

import (
	"context"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// MarkHeld sets the reason of pending runs that have none to why no instance took their newest
// attempt, as the dispatcher last said.
func MarkHeld(ctx context.Context, s Store, lists ...[]runlog.Run) error {
	waiting := map[job.RunID]*runlog.Run{}
	var ids []job.RunID
	for _, runs := range lists {
		for i := range runs {
			if r := &runs[i]; r.Status == job.StatusPending && r.Reason == "" && r.Piece == runlog.Whole {
				ids, waiting[r.RunID] = append(ids, r.RunID), r
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	held, err := s.Held(ctx, ids)
	if err != nil {
		return err
	}
	for id, c := range held {
		if r := waiting[id]; r.Attempt == c.Attempt {
			r.Reason = c.Detail
		}
	}
	return nil
}
