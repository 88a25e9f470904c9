package shard

import (
	"fmt"
	"time"
	"unique"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// stages are the stages of runs by the kind of their items.
var stages = map[journal.DeferredKind]stage{
	journal.DeferredQueued: queued, journal.DeferredAlive: triggered, journal.DeferredRetry: retrying,
	journal.DeferredPieces: triggered, journal.DeferredWorkflow: triggered, journal.DeferredExpected: expected,
}

// restore enters a run of an earlier owner from the item at seq.
func (rs *runs) restore(id uint32, d *journal.Deferred, seq uint64) error {
	t, err := bus.DecodeTrigger(nil, d.Trigger)
	if err != nil {
		return fmt.Errorf("trigger in it: %w", err)
	}
	of, err := d.Workflow()
	if err == nil {
		err = checkWorkflow(of)
	}
	if err != nil {
		return err
	}
	a, err := rs.fromTrigger(id, t, of)
	if err != nil {
		return err
	}
	a.stage, a.item, a.due, a.cancelled = stages[d.Kind], &item{seq: seq}, millis(d.Due), d.Reason
	a.given, a.taken, a.caller, a.lane = d.Given, d.Taken, d.Caller, d.Lane
	a.key = rs.keys.restore(d.Key, false)
	if d.Reported != nil {
		a.reported = *d.Reported
	}
	if d.Pieces != nil {
		if err := a.restorePieces(d); err != nil {
			return err
		}
	}
	if t.Cause == job.CauseStep {
		if !rs.steps.restoreStep(a, t) {
			rs.items.release(a.item)
		}
		return nil
	}
	if d.Kind == journal.DeferredWorkflow {
		if err := rs.steps.restoreRun(a); err != nil {
			return err
		}
	}
	rs.add(a)
	rs.wake(id)
	return nil
}

// fromTrigger returns the run that a trigger of the job starts; of is its workflow, nil if it does a task.
func (rs *runs) fromTrigger(id uint32, t *bus.Trigger, of *journal.WorkflowBody) (*watchedRun, error) {
	body, err := encodeBody(&journal.Body{TriggerBody: t.TriggerBody, Workflow: of})
	if err != nil {
		return nil, err
	}
	return &watchedRun{
		attempt: attemptOf(t), jobID: id, job: rs.jobs.at(id).name, stage: triggered, body: unique.Make(body), since: t.CommittedAt.UnixMilli(),
	}, nil
}

// attemptOf is the inverse of [builder.encode], as far as a trigger has it.
func attemptOf(t *bus.Trigger) attempt {
	return attempt{
		runID: t.RunID, version: int32(t.Version), number: t.Attempt, cause: t.Cause, fireTime: t.FireTime.UnixMilli(), //nolint:gosec // as in Plan
		startBy: millis(t.StartBy), endBy: millis(t.EndBy), parent: t.ParentRun, depth: t.Depth, step: t.Step, split: t.Split,
	}
}

// restorePieces enters the progress of a run in pieces.
func (a *watchedRun) restorePieces(d *journal.Deferred) error {
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
