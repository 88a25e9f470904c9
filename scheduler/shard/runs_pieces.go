package shard

import (
	"encoding/json"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// endPiece does what follows from the end, or the beginning, of one piece of a run.
// The caller has found room for what follows from the end of the run.
func (rs *runs) endPiece(b *builder, a *watchedRun, e *end) {
	p := a.pieces
	if e.piece.Total != p.total() {
		return
	}
	if e.begun {
		if p.states[e.piece.Index] == bus.PieceTriggered {
			p.states[e.piece.Index] = bus.PieceBegun
			rs.pieces.changed(b, a)
		}
		return
	}
	again := rs.jobs.mayRepeat(a) && !e.final && rs.jobs.rules(a).Retry.Again(e.attempt-p.Split, e.status, e.exitCode)
	if p.end(e.piece.Index, e.status, again) {
		if e.status == job.StatusSucceeded && rs.jobs.passesResult(a) {
			p.keep(e.piece.Index, e.result, e.cut)
		}
		rs.pieces.changed(b, a)
		rs.goOn(b, a)
	}
}

// goOn triggers further pieces of a run, or ends its attempt when all have ended. The
// caller has found room for what follows.
func (rs *runs) goOn(b *builder, a *watchedRun) {
	p := a.pieces
	if p.total() == 0 {
		return
	}
	rs.pieces.sendLater(a)
	if p.in(string(bus.PieceWaiting))+p.out() > 0 {
		return
	}
	rule := rs.jobs.rules(a)
	if n := p.again(rule.SucceedsIf); n > 0 && rs.jobs.mayRepeat(a) {
		wait := rule.Retry.Wait(a.runID, a.number-p.Split)
		if due := b.now.Add(wait).UnixMilli(); a.endBy == 0 || due < a.endBy {
			s, why := p.outcome(rule.SucceedsIf)
			b.record.addRun(a.job, a.attempt, s, why).Retry = true
			rs.repeat(b, a, due, reason.PiecesRepeat.With(
				p.total()-p.in(string(bus.PieceSucceeded)), p.total(), a.number+1, n, job.Duration(wait)))
			return
		}
	}
	rs.endTogether(b, a)
}

// endTogether ends a run whose pieces all have.
func (rs *runs) endTogether(b *builder, a *watchedRun) {
	s, why := a.pieces.outcome(rs.jobs.rules(a).SucceedsIf)
	result := a.pieces.results()
	if a.of != nil {
		s, why, result = a.togetherInStep(s, why)
	}
	o := b.record.addRun(a.job, a.attempt, s, why)
	if a.of != nil { // the history has it only for each piece
		o.Result = result
		b.record.size += len(result)
	}
	rs.end(b, a, s, result, b.now.UnixMilli())
}

// repeat schedules an attempt that repeats those pieces that may be repeated.
func (rs *runs) repeat(b *builder, a *watchedRun, due int64, why string) {
	for i := range len(repeated) {
		a.pieces.become(repeated[i], bus.PieceWaiting)
	}
	a.stage, a.due = retrying, due
	a.number++
	rs.pieces.changed(b, a)
	b.record.addRun(a.job, a.attempt, job.StatusQueued, why)
	rs.arm(a.jobID)
	rs.wake(a.jobID) // as in retry
}

// divide makes pieces of the list that a splitting attempt has returned.
func (rs *runs) divide(b *builder, a *watchedRun, e *end) {
	name := a.job
	var items []json.RawMessage
	err := json.Unmarshal(e.result, &items)
	switch {
	case err != nil || items == nil:
		rs.endHere(b, a, job.StatusFailed, "the splitting attempt was to return a JSON list of the run's pieces, and did not")
		return
	case len(items) > bus.MaxPieces:
		rs.endHere(b, a, job.StatusFailed, reason.SplitTooMany.With(len(items), bus.MaxPieces))
		return
	case len(items) == 0:
		rs.endEmpty(b, a)
		return
	}
	p, err := newRunPieces(a.body.Value())
	if err != nil {
		rs.cfg.bug("run %s: %v", a.runID, err)
	}
	p.Items, p.Split = items, a.number
	p.lay(len(items))
	a.pieces, a.split = p, false
	a.number++
	rs.pieces.changed(b, a)
	rs.pieces.release(a)
	b.record.addRun(name, a.attempt, job.StatusPending, reason.SplitListed.With(e.attempt, len(items)))
}

// endEmpty ends a run whose splitting attempt has listed no pieces.
func (rs *runs) endEmpty(b *builder, a *watchedRun) {
	o := b.record.addRun(a.job, a.attempt, job.StatusSucceeded, "the splitting attempt listed no pieces, so there was nothing to do")
	if a.of != nil && rs.jobs.passesResult(a) {
		o.Result = noResults
	}
	rs.end(b, a, job.StatusSucceeded, o.Result, b.now.UnixMilli())
}

// noResults is what a step returns that had nothing to do.
var noResults = json.RawMessage("[]")

// wakePieces looks after a run in pieces as time passes. The caller has found room for
// what follows from its end.
func (rs *runs) wakePieces(b *builder, a *watchedRun, now int64) {
	p := a.pieces
	if a.lacksInstances() {
		rs.pieces.meet(a)
		switch {
		case rs.jobs.at(a.jobID).newest().Deleted:
			rs.endHere(b, a, job.StatusCancelled, "the job was deleted while the run waited for an instance")
		case !a.lacksInstances():
			rs.pieces.changed(b, a)
			rs.pieces.release(a)
			b.record.addRun(a.job, a.attempt, job.StatusPending, reason.WaitedForInstance.With(job.Duration(b.now.Sub(instant(a.since)))))
		case a.startBy != 0 && a.startBy <= now:
			rs.endHere(b, a, job.StatusMissed, a.whyLate(rs.jobs.rules(a).StartWithin, reason.NobodyOnline))
		}
		return
	}
	if p.Cancelled != "" && !a.killed { // by an earlier owner, who may have died in between
		rs.killPieces(b, a)
	}
	changed := a.endBy != 0 && a.endBy <= now && p.become(bus.PieceWaiting, bus.PieceTimedOut)
	if at := p.overdue(); at != 0 && at <= now {
		changed = p.become(bus.PieceTriggered, bus.PieceMissed) || changed
	}
	if changed {
		rs.pieces.changed(b, a)
	}
	rs.goOn(b, a)
}

// callOff ends a run in pieces: those that wait are not triggered, those that are with
// the executors are killed. The caller has found room for what follows from its end.
func (rs *runs) callOff(b *builder, a *watchedRun, why string) {
	p := a.pieces
	if a.lacksInstances() {
		rs.endHere(b, a, job.StatusCancelled, why)
		return
	}
	if p.Cancelled == "" {
		p.Cancelled = why
	}
	p.become(bus.PieceWaiting, bus.PieceCancelled)
	rs.pieces.changed(b, a)
	if p.out() > 0 {
		rs.killPieces(b, a)
	}
	rs.goOn(b, a)
}

// killPieces has the pieces killed that are with the executors.
func (rs *runs) killPieces(b *builder, a *watchedRun) {
	a.killed = true
	b.Kills = append(b.Kills, Kill{Job: a.job, RunID: a.runID, Reason: a.pieces.Cancelled})
}
