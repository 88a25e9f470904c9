package shard

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// A step that is done in pieces has the item of such a run. The list of its pieces, if it is a parameter or the
// result of an earlier step, is read when the step begins, and kept in the item.

// withoutList returns how a step is cut in pieces, for its triggers, which need not name the list.
func withoutList(m *job.Map) *job.Map {
	if m == nil || m.Over == "" {
		return m
	}
	return &job.Map{AtOnce: m.AtOnce}
}

// items returns the list whose elements are the pieces of step i; ok is false if they do not come from one.
// The error says why there is no such list.
func (p *runSteps) items(a *watchedRun, i int) (items []json.RawMessage, ok bool, err error) {
	m := p.def.Steps[i].Body.Map
	r, ok, err := m.Overs()
	if !ok || err != nil {
		return nil, ok, err
	}
	text, err := json.Marshal(m.Over)
	if err != nil {
		return nil, true, err
	}
	list, err := workflow.Fill(text, func(r workflow.Reference) (json.RawMessage, error) { return p.lookUp(a, r) })
	if err != nil {
		return nil, true, errors.New(reason.StepListUnknown.With(err))
	}
	err = json.Unmarshal(list, &items)
	switch n := len(items); {
	case err != nil || items == nil && !r.Optional:
		return nil, true, errors.New(reason.StepNoList.With(r))
	case n > bus.MaxPieces:
		return nil, true, errors.New(reason.StepListTooLong.With(n, bus.MaxPieces))
	}
	return items, true, nil
}

// passEmpty ends step i, whose list is empty.
func (st *steps) passEmpty(b *builder, a *watchedRun, i int) {
	p := a.steps
	if !p.begun() {
		b.record.addRun(a.job, a.attempt, job.StatusRunning, "")
	}
	p.states[i] = workflow.Succeeded
	o := b.record.addRun(a.job, a.stepAttempt(i), job.StatusSucceeded, reason.StepListEmpty.String())
	if p.needed(i) {
		o.Result = noResults
		st.keep(b, a, i, noResults)
	}
	st.react(b, a, i)
}

// beginStep begins the run of a step that is done in pieces, one for each of items if there are any. It takes
// one message, and returns false if an attempt comes first that lists the pieces.
func (ps *pieces) beginStep(b *builder, s *watchedRun, items []json.RawMessage, f *admission) bool {
	if len(items) > 0 {
		p, err := newRunPieces(s.body.Value())
		if err != nil {
			ps.cfg.bug("run %s: %v", s.runID, err)
		}
		p.Items, s.pieces = items, p
		p.lay(len(items))
	}
	begun, done := ps.begin(b, s)
	if done {
		*f = begun
	}
	return done
}

// togetherInStep returns how a step ends whose pieces have ended, and what it returns if somebody may ask for that.
func (a *watchedRun) togetherInStep(s job.Status, why string) (job.Status, string, json.RawMessage) {
	of := a.of.steps
	if s != job.StatusSucceeded || !of.needed(a.index) {
		return s, why, nil
	}
	if a.pieces.Cut {
		return job.StatusFailed, reason.PieceResultsCut.With(bus.MaxResults), nil
	}
	result := a.pieces.list()
	if n := of.kept() + len(result); n > maxResults {
		return job.StatusFailed, reason.StepResultTooLarge.With(n, maxResults), nil
	}
	return s, why, result
}

// sendPieces has the pieces of steps triggered for which there is room now.
func (p *runSteps) sendPieces(ps *pieces) {
	for _, i := range slices.Sorted(maps.Keys(p.out)) {
		if s := p.out[i]; s.pieces != nil && s.stage == triggered {
			ps.sendLater(s)
		}
	}
}

// waitsForInstances reports whether the run, or a step of it, is to be done by every instance, and there has been
// none yet.
func (a *watchedRun) waitsForInstances() bool {
	if a.steps == nil {
		return a.lacksInstances()
	}
	for _, s := range a.steps.out {
		if s.lacksInstances() {
			return true
		}
	}
	return false
}
