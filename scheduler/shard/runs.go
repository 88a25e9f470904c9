package shard

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// stage is how far a run has come.
type stage int

const (
	queued    stage = iota // it waits for others of its job
	triggered              // an attempt of it is with the executors
	retrying               // it waits for its next attempt
)

// watchedRun is a run of a watched job, from the moment it is wanted to its final status.
type watchedRun struct {
	attempt
	jobID  uint32
	job    job.Name
	stage  stage
	body   unique.Handle[body]
	item   *item // the trigger, or the deferred item in which it waits
	since  int64 // when it began to wait, or was triggered
	due    int64 // of a retry
	killed bool  // its end has been asked for
	over   bool  // it is watched no longer

	// cancelled says why the end of its attempt, whatever it is, counts as cancelled; "": it does not.
	cancelled string
	pieces    *runPieces // nil unless it is done in pieces, and has begun
}

// runs are the watched runs of the shard: from the moment a run is wanted to its final status.
type runs struct {
	cfg     *Config
	jobs    *jobs
	items   *items
	cluster *Cluster
	pieces  *pieces

	byJob map[uint32]*jobRuns // by id
	byID  map[job.RunID]*watchedRun
	wakes []uint32 // ids of jobs whose runs need attention in the next step

	arm   func(id uint32)                                                                 // sets when a job needs attention again
	ended func(b *builder, a *watchedRun, s job.Status, result json.RawMessage, at int64) // does what follows from the end of a run elsewhere
	await func(name job.Name) bool                                                        // see [versions.hasUnreadable]
}

// jobRuns are the watched runs of one job.
type jobRuns struct {
	waking bool // the job is among the machine's wakes

	active []*watchedRun // triggered, or waiting for a retry
	queue  []*watchedRun // the one that has waited longest first

	succeeded *success // nil while no run of an earlier fire is alive or may begin
}

func (r *jobRuns) empty() bool {
	return len(r.active)+len(r.queue) == 0 && r.succeeded == nil
}

// busy returns how many runs count for the job's rule for overlap. Runs of a backfill
// have a limit of their own: they must not delay what is due, nor be skipped for it.
func (r *jobRuns) busy() int {
	n := 0
	for _, a := range r.active {
		if a.cause != job.CauseBackfill {
			n++
		}
	}
	return n
}

// of returns the runs of a job, and begins to keep them if there are none.
func (rs *runs) of(id uint32) *jobRuns {
	r := rs.byJob[id]
	if r == nil {
		r = &jobRuns{}
		rs.byJob[id] = r
	}
	return r
}

// add enters a run.
func (rs *runs) add(a *watchedRun) {
	r := rs.of(a.jobID)
	if a.stage == queued {
		r.queue = append(r.queue, a)
	} else {
		r.active = append(r.active, a)
	}
	rs.byID[a.runID] = a
	rs.arm(a.jobID)
}

// drop removes a run that is over, and releases its item.
func (rs *runs) drop(a *watchedRun) {
	a.over = true
	rs.items.release(a.item)
	delete(rs.byID, a.runID)
	r := rs.byJob[a.jobID]
	is := func(other *watchedRun) bool { return other == a }
	r.active = slices.DeleteFunc(r.active, is)
	r.queue = slices.DeleteFunc(r.queue, is)
	rs.forgetSuccess(a.jobID)
}

// stages are the stages of runs by the kind of their items.
var stages = map[bus.DeferredKind]stage{
	bus.DeferredQueued: queued, bus.DeferredAlive: triggered, bus.DeferredRetry: retrying,
	bus.DeferredPieces: triggered,
}

// restore enters a run of an earlier owner from the item at seq.
func (rs *runs) restore(id uint32, d *bus.Deferred, seq uint64) error {
	t, err := bus.DecodeTrigger(nil, d.Trigger)
	if err != nil {
		return fmt.Errorf("trigger in it: %w", err)
	}
	a, err := rs.fromTrigger(id, t)
	if err != nil {
		return err
	}
	a.stage, a.item, a.due, a.cancelled = stages[d.Kind], &item{seq: seq}, millis(d.Due), d.Reason
	if d.Pieces != nil {
		if err := a.restorePieces(d); err != nil {
			return err
		}
	}
	rs.add(a)
	rs.wake(id)
	return nil
}

// fromTrigger returns the run that a trigger of the job starts.
func (rs *runs) fromTrigger(id uint32, t *bus.Trigger) (*watchedRun, error) {
	body, err := encodeBody(&t.TriggerBody)
	if err != nil {
		return nil, err
	}
	return &watchedRun{
		attempt: attempt{
			runID: t.RunID, version: int32(t.Version), number: t.Attempt, cause: t.Cause, fireTime: t.FireTime.UnixMilli(), //nolint:gosec // as in Plan
			startBy: millis(t.StartBy), endBy: millis(t.EndBy), parent: t.ParentRun, depth: t.Depth, split: t.Split,
		},
		jobID: id, job: rs.jobs.at(id).name, stage: triggered, body: unique.Make(body), since: t.CommittedAt.UnixMilli(),
	}, nil
}

// restorePieces enters the progress of a run in pieces.
func (a *watchedRun) restorePieces(d *bus.Deferred) error {
	p, err := newRunPieces(a.body.Value())
	if err != nil {
		return err
	}
	p.Pieces, p.states = *d.Pieces, []byte(d.Pieces.States)
	a.pieces, a.total = p, p.total()
	if a.total > 0 {
		p.rule = nil
	}
	if a.due != 0 {
		a.stage = retrying
	}
	return nil
}

// millis returns t in Unix milliseconds, 0 when it is zero.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// instantOrZero is the inverse of millis.
func instantOrZero(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return instant(ms)
}

// backfilling returns how many runs of a job's backfills are alive. There is one backfill
// at a time: the next one begins when all runs of the one before have ended.
func (rs *runs) backfilling(id uint32) int {
	jr := rs.byJob[id]
	if jr == nil {
		return 0
	}
	return len(jr.active) - jr.busy()
}

// forget drops the runs of a job that is removed.
func (rs *runs) forget(id uint32) {
	jr := rs.byJob[id]
	if jr == nil {
		return
	}
	for _, a := range slices.Concat(jr.active, jr.queue) {
		rs.drop(a)
	}
	rs.putSuccess(jr, nil)
	delete(rs.byJob, id)
	rs.wakes = slices.DeleteFunc(rs.wakes, func(other uint32) bool { return other == id })
}

// outside returns the trigger of a run's current attempt, without its body.
func (rs *runs) outside(a *watchedRun) *bus.Trigger {
	return &bus.Trigger{
		RunID: a.runID, Job: a.job, Version: int(a.version), Shard: rs.cfg.Shard, Attempt: a.number,
		Cause: a.cause, FireTime: instant(a.fireTime), CommittedAt: instant(a.since), ParentRun: a.parent, Split: a.split,
	}
}
