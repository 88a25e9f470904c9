package runs

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/webapi/access"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

const (
	settleWithin = 3 * time.Second
	settlePoll   = 200 * time.Millisecond
)

// settle calls read until that has found all ends within a run that has ended. An executor tells them on another
// stream than the scheduler tells the end of the run, so they may come into the history later, but no later than
// ledger.StepTolerance: what is not there by then is not kept. What has succeeded would be done again if its end were
// taken for none. While it waits it is one of the few requests that do. After 3 s it returns a job.ErrUnavailable; other
// errors are those of read, and of the wait for its turn.
func settle(ctx context.Context, of *runlog.Run, read func() (complete bool, err error)) error {
	complete := func() (bool, error) {
		all, err := read()
		return all || time.Since(of.FinishedAt) > ledger.StepTolerance, err
	}
	if all, err := complete(); err != nil || all {
		return err
	}
	slot, err := access.Of(ctx).Wait(ctx)
	if err != nil {
		return err
	}
	defer slot.Release()
	look := time.NewTicker(settlePoll)
	defer look.Stop()
	for until := time.Now().Add(settleWithin); time.Now().Before(until); {
		select {
		case <-look.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if all, err := complete(); err != nil || all {
			return err
		}
	}
	return problem.Explain(job.ErrUnavailable, finding.NotInHistoryYet.String())
}
