package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/journal"
)

// forgottenCall is a called run that was alive when its job was removed. Its item stays until the batch that
// answers the caller, so that a successor answers if this owner dies before.
type forgottenCall struct {
	attempt
	job    job.Name
	status job.Status // how it counts as ended
	item   *item
}

// forgottenAs returns how a run of a removed job counts as ended: what its executor says is not heard any more.
func forgottenAs(s stage) job.Status {
	if s == triggered {
		return job.StatusLost
	}
	return job.StatusCancelled
}

// forget keeps what callers are to be told of the runs of a job that is about to be removed.
func (ch *children) forget(id uint32) {
	jr := ch.runs.byJob[id]
	if jr == nil {
		return
	}
	for _, a := range slices.AppendSeq(slices.Clone(jr.active), jr.queue()) {
		if a.caller != nil {
			ch.forgotten = append(ch.forgotten, &forgottenCall{a.attempt, a.job, forgottenAs(a.stage), a.item})
			a.item = nil
		}
	}
}

// restoreForgotten enters the item at seq of a run whose job was removed. It returns false for one without a caller.
func (ch *children) restoreForgotten(d *journal.Deferred, seq uint64) bool {
	if d.Caller == nil {
		return false
	}
	t, err := bus.DecodeTrigger(nil, d.Trigger)
	if err != nil {
		return false // no machine wrote it
	}
	r := attemptOf(t)
	r.caller = d.Caller
	at := stages[d.Kind]
	if !d.Due.IsZero() { // of a run in pieces
		at = retrying
	}
	ch.forgotten = append(ch.forgotten, &forgottenCall{r, d.Job, forgottenAs(at), &item{seq: seq}})
	return true
}

// answerForgotten ends called runs whose jobs were removed, as far as b has room.
func (ch *children) answerForgotten(b *builder) {
	for len(ch.forgotten) > 0 && b.fits(1) {
		f := ch.forgotten[0]
		ch.forgotten = ch.forgotten[1:]
		b.record.addRun(f.job, f.attempt, f.status, reason.CalledRemoved.String())
		ch.answer(b, f.attempt, f.status, nil, b.now.UnixMilli())
		ch.items.release(f.item)
	}
}
