package runs

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore/waits"
	"github.com/carillon-scheduler/carillon/webapi/access"
)

// awaitedLimit bounds how long it may take to find out which awaited runs there are: the page of a run reloads often.
const awaitedLimit = 250 * time.Millisecond

// markAwaited says of the steps of a run that wait for runs how many of these there are, if the caller may see them, and
// as far as there is time.
func (w *Waits) markAwaited(ctx context.Context, of *runlog.Run, steps []api.RunStep) error {
	limited, cancel := context.WithTimeout(ctx, awaitedLimit)
	defer cancel()
	reader := waits.NewReader(w.runs.ledger, w.runs.store)
	for i := range steps {
		s := &steps[i]
		if s.Wait == nil || s.Wait.Kind != runlog.WaitRuns || s.State != api.RunStepState(job.StatusQueued) {
			continue
		}
		if !access.Who(ctx).Access.May(rights.Viewer, s.Wait.Runs.Job.Group()) {
			continue
		}
		v, err := reader.Read(limited, s.Wait.Runs, of.FireTime)
		if errors.Is(limited.Err(), context.DeadlineExceeded) {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		s.Met, s.Of, s.Missing = &v.Have, &v.Of, v.Missing
	}
	return nil
}
