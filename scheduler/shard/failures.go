package shard

import (
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// Failures counts runs in a row that have ended badly, and has the jobs that are to be paused because
// of them.
type Failures struct {
	cfg    *Config
	items  *items
	byJob  map[uint32]*failureCount // by id of the job, while there are some
	pauses []*Pause
}

type failureCount struct {
	n    int
	item *item
}

// count counts the end of a run of a job, of which p is the newest version.
func (fl *Failures) count(b *builder, a *watchedRun, s job.Status, p *job.Plan) {
	was := fl.byJob[a.jobID]
	if was == nil {
		was = &failureCount{}
	}
	n := was.n
	switch s { //nolint:exhaustive // the others say nothing about the job's health
	case job.StatusSucceeded:
		n = 0
	case job.StatusFailed, job.StatusTimedOut, job.StatusLost:
		n++
	}
	if p.PauseAfter == 0 {
		n = 0
	}
	if n == was.n {
		return
	}
	fl.forget(a.jobID)
	switch {
	case n == 0:
	case n < p.PauseAfter:
		d := &journal.Deferred{Kind: journal.DeferredFailures, Job: a.job, Count: n}
		fl.byJob[a.jobID] = &failureCount{n: n, item: b.deferred(fl.cfg.Shard, d)}
	default:
		why := reason.FailuresInARow.With(n, a.runID)
		d := &journal.Deferred{Kind: journal.DeferredPause, Job: a.job, Version: int(p.Version), Reason: why}
		fl.pauses = append(fl.pauses, &Pause{Job: a.job, Version: int(p.Version), Reason: why, item: b.deferred(fl.cfg.Shard, d)})
	}
}

// restore enters the count of a job, or its wish to be paused, that an earlier owner has left in an item at seq.
func (fl *Failures) restore(id uint32, d *journal.Deferred, seq uint64) {
	if d.Kind == journal.DeferredPause {
		fl.pauses = append(fl.pauses, &Pause{Job: d.Job, Version: d.Version, Reason: d.Reason, item: &item{seq: seq}})
		return
	}
	fl.forget(id)
	fl.byJob[id] = &failureCount{n: d.Count, item: &item{seq: seq}}
}

// forget drops the count of a job.
func (fl *Failures) forget(id uint32) {
	if was := fl.byJob[id]; was != nil {
		fl.items.release(was.item)
		delete(fl.byJob, id)
	}
}

// Pause is a job that its owner has to pause, if Version is still its newest.
type Pause struct {
	Job     job.Name
	Version int
	Reason  string
	item    *item
}

// Pauses returns the jobs that are to be paused, as stored, without forgetting them:
// the owner calls [Failures.Paused] when one is done.
func (fl *Failures) Pauses() []*Pause {
	var stored []*Pause
	for _, p := range fl.pauses {
		if p.item.seq != 0 {
			stored = append(stored, p)
		}
	}
	return stored
}

// Paused reports that a job is paused, or need not be any more.
func (fl *Failures) Paused(p *Pause) {
	for i, other := range fl.pauses {
		if other == p {
			fl.pauses = append(fl.pauses[:i:i], fl.pauses[i+1:]...)
			fl.items.release(p.item)
			return
		}
	}
}
