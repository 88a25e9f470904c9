package shard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
)

// Wait takes a request about a step that waits, as [Requests.Submit] takes one for a run. The error is a job.ErrNotFound if
// no run waits for the signal, and a job.ErrConflict if the step cannot be told so now.
func (q *Requests) Wait(r bus.WaitRequest) (done *Asked, err error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if asked, ok := q.recent.runs[r.ID]; ok {
		return &asked, nil
	}
	if q.asked[r.ID] {
		return nil, nil
	}
	if _, _, err := q.told(&r); err != nil {
		return nil, err
	}
	q.tellings = append(q.tellings, r)
	q.asked[r.ID] = true
	return nil, nil
}

// tell meets the requests about steps that wait.
func (q *Requests) tell(b *builder) {
	for len(q.tellings) > 0 && b.fits(roomAsked) {
		r := q.tellings[0]
		q.tellings = q.tellings[1:]
		answer := Asked{RunID: r.ID, Of: r.RunID}
		if a, i, err := q.told(&r); err != nil { // since it was asked for
			answer.Reason = whyNot(err)
		} else {
			answer.Of, answer.Step, answer.Round, answer.Version = a.runID, a.steps.def.graph.Step(i).Name, a.steps.round(i), int(a.version)
			answer.Status = q.runs.steps.tell(b, a, i, &r)
		}
		b.note(answer)
	}
}

// waitError is why a request about a wait cannot be met: a sentence, and of which kind the error is.
type waitError struct {
	error
	why string
}

func (r waitError) Unwrap() error { return r.error }

func refused(kind error, why string) error { return waitError{fmt.Errorf("%w: %s", kind, why), why} }

// whyNot returns the sentence of a [waitError].
func whyNot(err error) string {
	if r, ok := errors.AsType[waitError](err); ok {
		return r.why
	}
	return err.Error()
}

// told returns the run and the step that a request is about, or why it cannot be met now.
func (q *Requests) told(r *bus.WaitRequest) (*watchedRun, int, error) {
	if r.Act == bus.WaitSignal {
		return q.signalled(r)
	}
	a := q.runs.byID[r.RunID]
	if a == nil || a.job != r.Job || a.of != nil || a.steps == nil {
		return nil, 0, refused(job.ErrConflict, refusal.RunNotAlive.With(r.RunID, r.Job))
	}
	p := a.steps
	i, known := p.def.graph.Index(r.Step)
	kind := runlog.WaitApproval
	if r.Act == bus.WaitMet {
		kind = runlog.WaitRuns
	}
	switch {
	case !known:
		return nil, 0, refused(job.ErrConflict, refusal.NoSuchStep.With(r.Step))
	case p.waits[i] == nil:
		return nil, 0, refused(job.ErrConflict, refusal.StepDoesNotWait.With(r.Step, p.states[i].Word()))
	case p.waits[i].Kind != kind:
		return nil, 0, refused(job.ErrConflict, refusal.StepWaitsOtherwise.With(r.Step))
	case !r.Since.IsZero() && !r.Since.Equal(p.waits[i].Since):
		return nil, 0, refused(job.ErrConflict, refusal.StepWaitsAnew.With(r.Step))
	}
	approvals := p.waits[i].Approvals
	if k := slices.IndexFunc(approvals, func(of runlog.Approval) bool { return of.By == r.By }); k >= 0 && r.Act == bus.WaitApprove {
		return nil, 0, refused(job.ErrConflict, refusal.StepApprovedAlready.With(r.By, approvals[k].At))
	}
	return a, i, nil
}

// signalled returns the run and the step that a signal is for: of the run that it names, or of the oldest one of its job.
func (q *Requests) signalled(r *bus.WaitRequest) (*watchedRun, int, error) {
	var all []*watchedRun
	if id, ok := q.jobs.find(r.Job); ok && q.runs.byJob[id] != nil {
		all = slices.DeleteFunc(slices.Clone(q.runs.byJob[id].active), func(a *watchedRun) bool {
			return a.steps == nil || r.RunID != "" && a.runID != r.RunID
		})
	}
	slices.SortStableFunc(all, func(a, b *watchedRun) int {
		return cmp.Or(cmp.Compare(a.fireTime, b.fireTime), cmp.Compare(a.runID, b.runID))
	})
	var came error
	for _, a := range all {
		p := a.steps
		for i := range p.states {
			c, has := p.ending.Signalled[p.def.graph.Step(i).Name]
			if !has && (p.states[i].Final() || p.calledOff(i)) || !p.takes(a, i, r) {
				continue
			}
			if has {
				came = cmp.Or(came, refused(job.ErrConflict, refusal.SignalCame.With(r.Signal, c.At, cmp.Or(c.By, "?"))))
				continue
			}
			if n := p.kept() + len(r.Result); n > maxResults {
				return nil, 0, refused(job.ErrConflict, reason.StepResultTooLarge.With(n, maxResults))
			}
			return a, i, nil
		}
	}
	switch {
	case came != nil:
		return nil, 0, came
	case q.queuedFor(r) != nil:
		return nil, 0, refused(job.ErrConflict, refusal.SignalTooEarly.With(q.queuedFor(r).runID, r.Signal))
	case r.RunID != "":
		return nil, 0, refused(job.ErrNotFound, refusal.RunTakesNoSignal.With(r.RunID, r.Signal))
	case r.Key != "":
		return nil, 0, refused(job.ErrNotFound, refusal.NobodyTakesKey.With(r.Job, r.Signal, r.Key))
	}
	return nil, 0, refused(job.ErrNotFound, refusal.NobodyTakesSignal.With(r.Job, r.Signal))
}

// queuedFor returns the oldest queued run of a workflow that may be the one that a signal is for, or nil. It keeps no
// signals: its steps and their keys are not read until it begins.
func (q *Requests) queuedFor(r *bus.WaitRequest) *watchedRun {
	id, ok := q.jobs.find(r.Job)
	if !ok || q.runs.byJob[id] == nil {
		return nil
	}
	for a := range q.runs.byJob[id].queue() {
		if a.body.Value().inSteps && (r.RunID == "" || a.runID == r.RunID) {
			return a
		}
	}
	return nil
}

// takes reports whether step i waits, or will wait, for a signal with such a key. One for a run that is named needs none.
func (p *runSteps) takes(a *watchedRun, i int, r *bus.WaitRequest) bool {
	of := p.def.Steps[i].Wait
	if of == nil || of.Signal != r.Signal {
		return false
	}
	if r.RunID != "" && r.Key == "" {
		return true
	}
	if w := p.waits[i]; w != nil {
		return w.Key == r.Key
	}
	key, err := p.key(a, i) // which may not be known yet
	return err == nil && key == r.Key
}

// tell tells step i of a run what it waits for, and returns the status of it from then on. The caller has found room.
func (st *steps) tell(b *builder, a *watchedRun, i int, r *bus.WaitRequest) job.Status {
	s, at := a.steps.out[i], r.At.UTC()
	if at.IsZero() {
		at = b.now
	}
	switch r.Act {
	case bus.WaitSignal:
		return st.signal(b, a, i, journal.Signalled{By: r.By, At: at}, r)
	case bus.WaitReject:
		st.endWait(b, s, job.StatusFailed, reason.Join(reason.StepRejected.With(r.By), r.Note), r.By, nil)
		return job.StatusFailed
	case bus.WaitMet:
		st.endWait(b, s, job.StatusSucceeded, reason.StepRunsMet.String(), r.By, r.Result)
	case bus.WaitApprove:
		w := a.steps.waits[i]
		w.Approvals = append(w.Approvals, runlog.Approval{By: r.By, At: at, Note: r.Note})
		if len(w.Approvals) < w.Min {
			st.changed(b, a)
			b.record.addWait(a.job, s.attempt, w)
			return job.StatusQueued
		}
		st.endWait(b, s, job.StatusSucceeded, reason.StepApproved.With(r.By), r.By, approvedBy(w, r.Note))
	}
	return stateWord(a, i)
}

// signal gives a signal to step i: it ends its wait, or is kept until the step begins to wait.
func (st *steps) signal(b *builder, a *watchedRun, i int, came journal.Signalled, r *bus.WaitRequest) job.Status {
	p := a.steps
	if p.ending.Signalled == nil {
		p.ending.Signalled = map[string]journal.Signalled{}
	}
	p.ending.Signalled[p.def.graph.Step(i).Name] = came
	if p.waits[i] != nil {
		st.endWait(b, p.out[i], job.StatusSucceeded, reason.Join(signalledBy(r.By), r.Note), r.By, r.Result)
		return stateWord(a, i)
	}
	if len(r.Result) > 0 {
		st.keep(b, a, i, r.Result)
	}
	st.changed(b, a)
	return job.StatusQueued
}

// stateWord returns the status of step i, which is final.
func stateWord(a *watchedRun, i int) job.Status { return statusOf[a.steps.states[i]] }

// approvedBy returns the result of an approval.
func approvedBy(w *runlog.Wait, note string) json.RawMessage {
	given := struct {
		By   []string `json:"by"`
		Note string   `json:"note,omitempty"`
	}{Note: note}
	for _, of := range w.Approvals {
		given.By = append(given.By, of.By)
	}
	data, err := json.Marshal(given)
	if err != nil {
		return nil // names are texts
	}
	return data
}

// forgetSignal has step i wait for a new signal in its next round.
func (p *runSteps) forgetSignal(i int) {
	delete(p.ending.Signalled, p.def.graph.Step(i).Name)
}
