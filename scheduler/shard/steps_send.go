package shard

import (
	"encoding/json"
	"unique"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// stepsAtOnce is how many steps of workflows one step of the machine begins at most, as [piecesAtOnce]
// of pieces.
const stepsAtOnce = 300

// beginStep is how many messages it takes to begin a step: those of [launch], and how far its workflow has come.
const beginStep = launch + 1

// sendLater notes that a run has steps that may begin, or has ended.
func (st *steps) sendLater(a *watchedRun) {
	p := a.steps
	if !p.sending && (st.next(a) >= 0 || p.def.graph.Final(p.states)) {
		p.sending = true
		st.sending = append(st.sending, a)
	}
}

// next returns the step that may begin now, -1 if none may. Those that wait need no room. None may while the run is on hold.
func (st *steps) next(a *watchedRun) int {
	p := a.steps
	if p.ending.Hold.Held() {
		return -1
	}
	room := (p.def.AtOnce == 0 || p.working() < p.def.AtOnce) && st.cluster.noRoom(a.job.Group()) == ""
	for i, s := range p.states {
		if s == workflow.Ready && (room || p.waitsAt(i)) {
			return i
		}
	}
	return -1
}

// sendAll begins steps, as far as b has room and the runs' limits allow, and ends runs that have none left.
func (st *steps) sendAll(b *builder, follows func(id uint32) int) {
	for most := stepsAtOnce; len(st.sending) > 0; {
		a := st.sending[0]
		n, full := st.send(b, a, most, follows(a.jobID))
		if n > 0 && !a.over {
			st.arm(a.jobID) // once: it looks at all steps that are out
		}
		if most -= n; full {
			return
		}
		a.steps.sending = false
		st.sending = st.sending[1:]
	}
}

// send begins at most that many steps of a run, and returns how many, and whether there may be more. room is
// how many messages the end of the run may take.
func (st *steps) send(b *builder, a *watchedRun, most, room int) (n int, full bool) {
	p := a.steps
	for !a.over {
		if !b.fits(max(room, beginStep)) {
			return n, true
		}
		if p.def.graph.Final(p.states) {
			st.finish(b, a)
			return n, false
		}
		i := st.next(a)
		switch {
		case i < 0:
			return n, false
		case n == most:
			return n, true
		}
		switch {
		case p.waitsAt(i):
			st.wait(b, a, i)
		case p.called(i) != "":
			st.call(b, a, i)
		default:
			st.sendStep(b, a, i)
		}
		n++
	}
	return n, false
}

// sendStep begins step i of a run.
func (st *steps) sendStep(b *builder, a *watchedRun, i int) {
	p, r := a.steps, a.stepAttempt(i)
	body, err := p.body(a, i)
	items, listed := []json.RawMessage(nil), false
	if err == nil {
		items, listed, err = p.items(a, i)
	}
	switch {
	case err != nil:
		p.states[i] = workflow.Failed
		b.record.addRun(a.job, r, job.StatusFailed, err.Error())
		st.react(b, a, i)
		return
	case listed && len(items) == 0:
		st.passEmpty(b, a, i)
		return
	}
	if within := p.def.rules[i].StartWithin; within > 0 {
		r.startBy = b.now.Add(within.Std()).UnixMilli()
	}
	s := &watchedRun{
		attempt: r, jobID: a.jobID, job: a.job, stage: triggered, body: unique.Make(body), since: b.now.UnixMilli(), of: a, index: i,
	}
	if !p.begun() {
		b.record.addRun(a.job, a.attempt, job.StatusRunning, "")
	}
	p.states[i], p.out[i], st.byID[s.runID] = workflow.Begun, s, s
	st.changed(b, a)
	f := admission{status: job.StatusPending}
	if !body.inPieces || !st.pieces.beginStep(b, s, items, &f) {
		s.item = b.waitIn(&journal.Deferred{Kind: journal.DeferredAlive}, s)
		b.send(b.encode(a.job, s.attempt), body)
	}
	b.record.addRun(a.job, s.attempt, f.status, f.reason)
}
