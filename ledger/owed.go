package ledger

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
)

// Now returns what the fires of a job are judged by at this moment. It does not wait for records that the history
// lacks. Errors: job.ErrNotFound, job.ErrUnavailable.
func (l *Ledger) Now(ctx context.Context, name job.Name) (Evidence, error) {
	p, err := l.readPosition(ctx, name.Shard(l.conn.Cluster().Shards), 0)
	if err != nil {
		return Evidence{}, err
	}
	return l.evidence(ctx, p, name)
}

// Owed calls yield for each fire that the job owes in [from, to), oldest first, with what became of it, until yield
// returns false; then so does Owed. Fires to come are [outcome.Undecided]. Those of a fixed delay follow from the ends
// of runs, so only those are there that were decided. Runs for which there was no fire are left out, and the steps of
// runs are not looked at. The error is job.ErrUnavailable.
func (v Evidence) Owed(ctx context.Context, from, to time.Time, yield func(*outcome.Entry) bool) (bool, error) {
	return v.walk(ctx, &judge{book: v.book()}, from, to, nil, func(e *outcome.Entry) bool {
		if e.Outcome == outcome.Discrepancy {
			switch reason.Read(string(e.Reason)).Code {
			case finding.NoSuchFire.Code, finding.SecondRun.Code:
				return true
			}
		}
		return yield(e)
	})
}
