package shard

import (
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// recorder groups outcomes as they come: hundreds of jobs share an instant.
type recorder struct {
	outcomes []journal.Outcome
	index    map[outcomeKey]int
	size     int // of the encoding, about, in bytes
}

// About how many bytes an outcome takes beside its texts, and a job in it beside its name.
const (
	outcomeSize = 160
	refSize     = 8
)

type outcomeKey struct {
	status   job.Status
	cause    job.Cause
	reason   string
	fireTime int64
	until    int64
	count    int
	total    int
}

func (r *recorder) empty() bool { return len(r.outcomes) == 0 }

// add records what became of fires of a job.
func (r *recorder) add(name job.Name, version int32, v verdict) {
	k := outcomeKey{status: v.status, cause: v.cause, reason: v.reason, fireTime: v.first.At, total: v.total}
	if v.count > 1 {
		k.until, k.count = v.last.At, v.count
	}
	i, ok := r.index[k]
	if !ok {
		if r.index == nil {
			r.index = map[outcomeKey]int{}
		}
		i = len(r.outcomes)
		r.index[k] = i
		o := journal.Outcome{Status: k.status, Cause: k.cause, Reason: k.reason, FireTime: instant(k.fireTime), Count: k.count, Total: k.total}
		if k.count > 1 {
			o.Until = instant(k.until)
		}
		r.outcomes = append(r.outcomes, o)
		r.size += outcomeSize + len(k.reason)
	}
	r.size += len(name) + refSize
	r.outcomes[i].Jobs = append(r.outcomes[i].Jobs, journal.JobVersion(name, int(version)))
}

// addRun records what becomes of one run, and returns the outcome that says so.
func (r *recorder) addRun(name job.Name, of attempt, s job.Status, reason string) *journal.Outcome {
	step := of.step
	if of.caller != nil {
		step = of.caller.Step
	}
	o := journal.Outcome{
		Status: s, Cause: of.cause, Reason: reason, FireTime: instant(of.fireTime), ParentRun: of.parent, Step: step, Total: of.total,
		Jobs: []string{journal.JobVersion(name, int(of.version))}, RunIDs: []job.RunID{of.runID},
	}
	if of.number > 1 {
		o.Attempt = of.number
	}
	r.outcomes = append(r.outcomes, o)
	r.size += outcomeSize + len(name) + len(of.runID) + len(reason) + len(step)
	return &r.outcomes[len(r.outcomes)-1]
}
