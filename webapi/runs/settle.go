package runs

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	settleWithin = 3 * time.Second
	settlePoll   = 50 * time.Millisecond
)

// settle calls read until that has found all ends within a run that has ended. An executor tells them on another
// stream than the scheduler tells the end of the run, so they may come into the history later, but no later than
// ledger.StepTolerance: what is not there by then is not kept. What has succeeded would be done again if its end were
// taken for none. After 3 s it returns a job.ErrUnavailable; other errors are those of read.
func settle(ctx context.Context, of *runlog.Run, read func() (complete bool, err error)) error {
	until := time.Now().Add(settleWithin)
	look := time.NewTicker(settlePoll)
	defer look.Stop()
	for {
		complete, err := read()
		switch {
		case err != nil, complete, time.Since(of.FinishedAt) > ledger.StepTolerance:
			return err
		case time.Now().After(until):
			return problem.Explain(job.ErrUnavailable, finding.NotInHistoryYet.String())
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
