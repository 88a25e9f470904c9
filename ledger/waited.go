package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/logstore"
)

// waitTolerance is how long after its instant a run that was requested for it may still wait: many may be due at once.
const waitTolerance = 5 * time.Minute

// waited returns a discrepancy for each run that was requested for an instant in [from, to), and of which nothing
// was recorded since, though its shard has come further and waits for nothing of the run, such as the end of a pause.
func (v Evidence) waited(ctx context.Context, from, to time.Time) ([]*outcome.Entry, error) {
	decided := v.Cursor.DoneFor(v.Job)
	if last := decided.Add(-waitTolerance); to.After(last) {
		to = last
	}
	if !v.Ingested || !from.Before(to) {
		return nil, nil
	}
	rows, err := v.all(ctx, logstore.RunFilter{
		Jobs: []job.Name{v.Job}, Causes: []job.Cause{job.CauseManual, job.CauseAPI}, Statuses: []job.Status{job.StatusQueued},
		From: from, To: to, Limit: logstore.MaxRuns,
	})
	if err != nil {
		return nil, err
	}
	var entries []*outcome.Entry
	for i := range rows {
		r := &rows[i]
		if reason.Read(string(r.Reason)).Code != reason.StepWaitsUntil.Code {
			continue
		}
		if v.Waits != nil {
			// The history keeps the first reason of a run that waits, and not that it is held by a pause.
			if waits, err := v.Waits(ctx, r.RunID); err != nil {
				return nil, err
			} else if waits {
				continue
			}
		}
		e := &outcome.Entry{FireTime: r.FireTime, Due: r.FireTime, RunID: r.RunID, Cause: r.Cause}
		tell(e, r)
		e.Late = 0
		contradict(e, finding.NeverBegan.With(decided))
		entries = append(entries, e)
	}
	slices.SortStableFunc(entries, func(a, b *outcome.Entry) int { return a.FireTime.Compare(b.FireTime) })
	return entries, nil
}

// among returns a func that calls yield for entries, oldest first, and for what it is called with, in the order of
// their fire times; and one that calls yield for the rest.
func among(entries []*outcome.Entry, yield func(*outcome.Entry) bool) (tell func(*outcome.Entry) bool, rest func() bool) {
	tell = func(e *outcome.Entry) bool {
		for len(entries) > 0 && (e == nil || !entries[0].FireTime.After(e.FireTime)) {
			if !yield(entries[0]) {
				return false
			}
			entries = entries[1:]
		}
		return e == nil || yield(e)
	}
	return tell, func() bool { return tell(nil) }
}
