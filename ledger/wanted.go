package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/logstore"
)

// wantedCauses are those of runs that no schedule asked for. Tests of drafts are of no version that is kept.
var wantedCauses = []job.Cause{job.CauseBackfill, job.CauseManual, job.CauseAPI, job.CauseParent, job.CauseRerun, job.CausePing}

// workflow reports whether a version of the job has steps.
func (v Evidence) workflow() bool {
	return slices.ContainsFunc(v.Versions, func(e *bus.JobEntry) bool { return len(e.Steps) > 0 })
}

// wanted returns an entry for each run with a fire time in [from, to) that no schedule asked for, of a workflow:
// somebody has started or repeated it, or another job has. Or a ping has told of it, of a job that is done elsewhere.
func (v Evidence) wanted(ctx context.Context, from, to time.Time) ([]*outcome.Entry, error) {
	rows, err := v.all(ctx, logstore.RunFilter{Jobs: []job.Name{v.Job}, Causes: wantedCauses, From: from, To: to, Limit: logstore.MaxRuns})
	if err != nil {
		return nil, err
	}
	var entries []*outcome.Entry
	for i := range rows {
		r := &rows[i]
		if of := v.version(r.Version); r.Cause != job.CausePing && (of == nil || len(of.Steps) == 0) {
			continue
		}
		e := &outcome.Entry{FireTime: r.FireTime, Due: r.FireTime, RunID: r.RunID, Cause: r.Cause}
		tell(e, r)
		e.Late = 0 // nothing was due
		entries = append(entries, e)
	}
	return entries, nil
}
