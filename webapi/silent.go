package webapi

import (
	"context"
	"fmt"

	"carillon/bus"
	"carillon/job"
	"carillon/logstore"
)

// markSilent shows runs whose executor's heartbeat has ceased as what they are:
// waiting for another executor, which gets the trigger when its AckWait ends. The
// history learns of it only from that one.
func (h *handlers) markSilent(ctx context.Context, lists ...[]logstore.Run) error {
	if !anyRunning(lists) {
		return nil
	}
	instances, err := h.conn.Instances(ctx)
	if err != nil {
		return err
	}
	for _, runs := range lists {
		showSilent(runs, instances)
	}
	return nil
}

func anyRunning(lists [][]logstore.Run) bool {
	for _, runs := range lists {
		for i := range runs {
			if runs[i].Status == job.StatusRunning {
				return true
			}
		}
	}
	return false
}

// showSilent changes, in runs, those on an instance that is not among the live ones.
func showSilent(runs []logstore.Run, known []bus.Instance) {
	alive := make(map[string]bool, len(known))
	for i := range known {
		alive[known[i].Key()] = known[i].Alive()
	}
	for i := range runs {
		r := &runs[i]
		if r.Status == job.StatusRunning && !alive[r.Job.Group()+"."+r.Instance] {
			r.Status = job.StatusPending
			r.Reason = fmt.Sprintf("instance %s went silent; waits for another executor", r.Instance)
		}
	}
}
