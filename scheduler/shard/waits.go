package shard

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/journal"
)

// A step that waits has a watched run in the stage waiting, which has no item of its own: what it waits for is in the
// item that says how far the workflow has come.

// waitsAt reports whether step i waits in the place of a task.
func (p *runSteps) waitsAt(i int) bool { return p.def.Steps[i].Wait != nil }

// wait begins step i of a run, which waits. One whose time or signal has come already ends at once.
func (st *steps) wait(b *builder, a *watchedRun, i int) {
	p, r := a.steps, a.stepAttempt(i)
	w, err := p.awaited(a, i, b.now)
	if err != nil {
		p.states[i] = workflow.Failed
		b.record.addRun(a.job, r, job.StatusFailed, err.Error())
		st.react(b, a, i)
		return
	}
	if !p.begun() {
		b.record.addRun(a.job, a.attempt, job.StatusRunning, "")
	}
	if came, ok := p.ending.Signalled[r.step]; ok {
		st.endSignalled(b, a, i, came)
		return
	}
	if w.Kind == runlog.WaitTime && !w.At.After(b.now) {
		p.states[i] = workflow.Succeeded
		b.record.addRun(a.job, r, job.StatusSucceeded, reason.StepWaited.With(w.At))
		st.react(b, a, i)
		return
	}
	p.states[i] = workflow.Pending
	st.enterWait(a, i, w)
	st.changed(b, a)
	b.record.addWait(a.job, r, w)
}

// enterWait enters that step i of a run has begun to wait.
func (st *steps) enterWait(a *watchedRun, i int, w *runlog.Wait) {
	s := &watchedRun{attempt: a.stepAttempt(i), jobID: a.jobID, job: a.job, stage: waiting, body: noBody, since: w.Since.UnixMilli(), due: millis(w.Wakes()), of: a, index: i}
	a.steps.out[i], a.steps.waits[i], st.byID[s.runID] = s, w, s
}

// leaveWait forgets that step i of a run waits, if it does.
func (st *steps) leaveWait(a *watchedRun, i int) {
	p := a.steps
	if p.waits[i] == nil {
		return
	}
	s := p.out[i]
	s.over = true
	delete(p.out, i)
	delete(p.waits, i)
	if st.byID[s.runID] == s {
		delete(st.byID, s.runID)
	}
}

// endSignalled ends step i, whose signal came before it has begun to wait.
func (st *steps) endSignalled(b *builder, a *watchedRun, i int, came journal.Signalled) {
	p := a.steps
	p.states[i] = workflow.Succeeded
	o := b.record.addRun(a.job, a.stepAttempt(i), job.StatusSucceeded, signalledBy(came.By))
	o.By = came.By
	if r := p.results[i]; r != nil {
		o.Result = r.value
		b.record.size += len(r.value)
		if !p.needed(i) {
			st.items.release(r.item)
			delete(p.results, i)
		}
	}
	st.react(b, a, i)
}

// endWait ends the wait of a step. The caller has found room for what follows.
func (st *steps) endWait(b *builder, s *watchedRun, status job.Status, why, by string, result json.RawMessage) {
	p := s.of.steps
	if n := p.kept() + len(result); status == job.StatusSucceeded && p.needed(s.index) && n > maxResults {
		status, why, result = job.StatusFailed, reason.StepResultTooLarge.With(n, maxResults), nil
	}
	o := b.record.addRun(s.job, s.attempt, status, why)
	o.By, o.Result = by, result
	if w := p.waits[s.index]; len(w.Approvals) > 0 { // the history is to have all of them
		o.Wait = w
		b.record.size += len(w.Text())
	}
	b.record.size += len(result)
	st.end(b, s, status, result, b.now.UnixMilli())
}

// wakeWait ends the wait of a step whose time has come.
func (st *steps) wakeWait(b *builder, s *watchedRun) {
	w := s.of.steps.waits[s.index]
	switch {
	case s.due == 0 || s.due > b.now.UnixMilli():
	case w.Kind == runlog.WaitTime:
		st.endWait(b, s, job.StatusSucceeded, reason.StepWaited.With(w.At), "", nil)
	default:
		st.endWait(b, s, job.StatusTimedOut, reason.StepWaitExpired.With(job.Duration(w.Expires.Sub(w.Since))), "", nil)
	}
}

// restoreWaits enters what steps of a run have begun to wait for, in the place of what was known of that.
func (st *steps) restoreWaits(a *watchedRun, waits map[string]runlog.Wait) {
	p := a.steps
	for _, i := range slices.Collect(maps.Keys(p.waits)) {
		st.leaveWait(a, i)
	}
	for name, w := range waits {
		if i, ok := p.def.graph.Index(name); ok && p.states[i] == workflow.Pending {
			st.enterWait(a, i, &w)
		}
	}
}

// working returns how many steps have begun that do not wait.
func (p *runSteps) working() int { return len(p.out) - len(p.waits) }

// awaited returns what step i waits for from now on, or why that cannot be told.
func (p *runSteps) awaited(a *watchedRun, i int, now time.Time) (*runlog.Wait, error) {
	of := p.def.Steps[i].Wait
	w := &runlog.Wait{Since: now}
	if of.Expires != 0 {
		w.Expires = now.Add(of.Expires.Std())
	}
	var err error
	switch of.Kind() {
	case "for":
		w.Kind, w.At = runlog.WaitTime, now.Add(of.For.Std())
	case "until":
		w.Kind = runlog.WaitTime
		if w.At, err = p.instant(a, of.Until); err == nil && w.At.After(now.Add(job.MaxWait.Std())) {
			err = errors.New(reason.StepWaitTooLong.With(w.At, job.MaxWait))
		}
	case "signal":
		w.Kind, w.Signal = runlog.WaitSignal, of.Signal
		w.Key, err = p.key(a, i)
	case "approval":
		w.Kind, w.By, w.Min, w.NotByRequester = runlog.WaitApproval, of.Approval.Approvers(), of.Approval.Least(), of.Approval.NotByRequester
	case "runs":
		w.Kind = runlog.WaitRuns
		w.Runs, err = p.awaitedRuns(a, of.Runs)
	}
	return w, err
}

func (p *runSteps) awaitedRuns(a *watchedRun, of *job.AwaitedRuns) (*runlog.AwaitedRuns, error) {
	r := &runlog.AwaitedRuns{Job: of.Job, Last: of.Last, Need: of.Need, Skipped: cmp.Or(of.Skipped, job.SkippedBad)}
	if of.Last > 0 {
		return r, nil
	}
	var errFrom, errTo error
	r.From, errFrom = p.instant(a, of.From)
	r.To, errTo = p.instant(a, of.To)
	err := cmp.Or(errFrom, errTo)
	if err == nil && !r.From.Before(r.To) {
		err = errors.New(reason.StepWaitBackwards.With(r.From, r.To))
	}
	return r, err
}

// key returns the key of the signal for which step i waits, "" for none. The error says why it cannot be computed, or not yet.
func (p *runSteps) key(a *watchedRun, i int) (string, error) {
	key, err := p.text(a, p.def.Steps[i].Wait.Key)
	if err == nil && len(key) > job.MaxSignalKey {
		err = errors.New(reason.StepKeyTooLong.With(len(key), job.MaxSignalKey))
	}
	return key, err
}

// instant returns the instant that a text names.
func (p *runSteps) instant(a *watchedRun, text string) (time.Time, error) {
	filled, err := p.text(a, text)
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, filled)
	if err != nil {
		return time.Time{}, errors.New(reason.StepWaitNoInstant.String())
	}
	return at.UTC(), nil
}

// text returns a text with its references replaced, "" for "".
func (p *runSteps) text(a *watchedRun, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return "", fmt.Errorf("encode text: %w", err)
	}
	value, err := p.fill(a, quoted)
	if err != nil {
		return "", err
	}
	var filled string
	switch {
	case json.Unmarshal(value, &filled) == nil && string(value) != "null":
		return filled, nil
	case value[0] == '{', value[0] == '[', string(value) == "null":
		return "", errors.New(reason.StepWaitNoText.String())
	}
	return string(value), nil // a number or a truth value
}

// signalledBy says who has sent a signal.
func signalledBy(by string) string {
	if by == "" {
		return reason.StepSignalled.String()
	}
	return reason.StepSignalledBy.With(by)
}

// addWait records that a step has begun to wait, or that one of several approvals was given.
func (r *recorder) addWait(name job.Name, of attempt, w *runlog.Wait) {
	why := ""
	switch w.Kind {
	case runlog.WaitTime:
		why = reason.StepWaitsUntil.With(w.At)
	case runlog.WaitSignal:
		why = reason.StepWaitsSignal.With(w.Signal)
	case runlog.WaitApproval:
		why = reason.StepWaitsApproval.With(strings.Join(w.By, ", "))
	case runlog.WaitRuns:
		why = reason.StepWaitsRuns.With(w.Runs.Job)
	}
	now := *w
	now.Approvals = slices.Clone(w.Approvals)
	r.addRun(name, of, job.StatusQueued, why).Wait = &now
	r.size += len(now.Text())
}
