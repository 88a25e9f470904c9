package ledger_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// ofRun makes an update one of another run than that of the fire at noon, or of a step of it.
func ofRun(id job.RunID, cause job.Cause) func(*logstore.Update) {
	return func(u *logstore.Update) {
		if u.Step != "" {
			u.RunID, u.Parent = job.StepRunID(id, u.Step), id
			return
		}
		u.RunID, u.Cause = id, cause
		if cause == job.CauseRerun {
			u.Parent = workflowRun
		}
	}
}

// ended has the history say that a workflow's run has ended a minute after noon.
func (w *world) ended(s job.Status, change ...func(*logstore.Update)) {
	w.Helper()
	w.wrote(0, job.StatusRunning, append(change, func(u *logstore.Update) { u.Kind, u.StartedAt = runlog.KindStarted, noon.Add(time.Second) })...)
	w.wrote(0, s, append(change, func(u *logstore.Update) { u.At = noon.Add(time.Minute) })...)
}

// wanted returns the runs that no schedule asked for, each with its cause, its outcome, its reason, and its steps.
func (w *world) wanted() (all []string) {
	w.Helper()
	if _, err := w.Judge(w.Context(), at(0), at(1), func(e *outcome.Entry) bool {
		if e.Cause == "" {
			return true
		}
		said := []string{fmt.Sprintf("%s: %s %s", e.Cause, e.Outcome, e.Reason)}
		for _, s := range e.Steps {
			said = append(said, strings.TrimRight(fmt.Sprintf("%s %s %s", s.Step, s.Outcome, s.Reason), " "))
		}
		all = append(all, strings.Join(said, "; "))
		return true
	}); err != nil {
		w.Fatal(err)
	}
	return all
}

func TestRunsThatNoScheduleAskedForAreJudged(t *testing.T) {
	steps := []job.Step{stepAfter("a"), stepAfter("b", "a")}
	for _, cause := range []job.Cause{job.CauseManual, job.CauseAPI, job.CauseBackfill, job.CauseParent, job.CauseRerun} {
		for status, want := range map[job.Status]string{
			job.StatusSucceeded: "ran ; a ran; b ran",
			job.StatusSkipped:   "discrepancy its steps contradict their graph: b; a ran; b discrepancy it was skipped, and had to run: its edges are met",
		} {
			w := newWorkflowWorld(t, nil, steps...)
			id := job.RetryRunID(workflowRun, "k")
			w.ended(job.StatusSucceeded, ofRun(id, cause))
			w.stepped("a", job.StatusSucceeded, ofRun(id, cause))
			w.stepped("b", status, ofRun(id, cause))
			if d := cmp.Diff([]string{string(cause) + ": " + want}, w.wanted()); d != "" {
				t.Errorf("a step is %s in a run with cause %s: %s", status, cause, d)
			}
		}
	}
}

func TestWhatARerunHasTakenOverIsLaidBesideTheRunThatDidIt(t *testing.T) {
	origin := job.StepRunID(workflowRun, "a")
	last := with(stepAfter("b", "a"), func(s *job.Step) { s.If = "results.a.rows > 0" })
	rerun := job.RetryRunID(workflowRun, "k")
	again := ofRun(rerun, job.CauseRerun)
	for name, c := range map[string]struct {
		first  func(w *world) // what the run did that is repeated
		cause  job.Cause
		from   job.RunID
		b      job.Status
		change func(*job.Job)
		want   string
	}{
		"a step that succeeded": {b: job.StatusSucceeded, want: "ran ; a ran " + reason.StepTaken.With(origin) + "; b ran"},
		"its result says that the next one runs": {
			b:    job.StatusSkipped,
			want: "discrepancy its steps contradict their graph: b; a ran " + reason.StepTaken.With(origin) + "; b discrepancy it was skipped, and had to run: its condition is true",
		},
		"a step that failed": {
			first: func(w *world) { w.stepped("a", job.StatusFailed, returned(`{"rows":3}`)) }, b: job.StatusSucceeded,
			want: "discrepancy its steps contradict their graph: a; a discrepancy " + finding.StepTakenBadly.With(origin, job.StatusFailed) + "; b ran",
		},
		"a run of another step": {
			first: func(w *world) {
				w.stepped("b", job.StatusPending)
				w.stepped("b", job.StatusSucceeded, returned(`{"rows":3}`))
			}, from: job.StepRunID(workflowRun, "b"), b: job.StatusSucceeded,
			want: "discrepancy its steps contradict their graph: a; a discrepancy " + finding.StepTakenBadly.With(job.StepRunID(workflowRun, "b"), job.StatusSucceeded) + "; b ran",
		},
		"a run that is not kept any more": {
			first: func(*world) {}, b: job.StatusSucceeded,
			want: "ran ; a unjudged " + finding.StepOriginUnknown.With(origin) + "; b unjudged " + finding.StepConditionUnknown.With(finding.StepNothingKnown),
		},
		"in a run that is no rerun": {
			cause: job.CauseManual, b: job.StatusSucceeded,
			want: "discrepancy its steps contradict their graph: a; a discrepancy " + finding.StepNotTakeable.String() + "; b ran",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkflowWorld(t, c.change, stepAfter("a"), last)
			if c.first == nil {
				c.first = func(w *world) {
					w.stepped("a", job.StatusPending)
					w.stepped("a", job.StatusSucceeded, returned(`{"rows":3}`))
				}
			}
			if c.from == "" {
				c.from = origin
			}
			if c.cause == "" {
				c.cause = job.CauseRerun
			}
			c.first(w)
			w.ended(job.StatusSucceeded, ofRun(rerun, c.cause))
			w.stepped("a", job.StatusSucceeded, again, because(reason.StepTaken.With(c.from)))
			w.stepped("b", c.b, again)
			if d := cmp.Diff([]string{string(c.cause) + ": " + c.want}, w.wanted()); d != "" {
				t.Error(d)
			}
		})
	}
}

// The history does not know what a person has given a run.
func TestAConditionOnParametersThatSomebodyMayHaveGivenIsUnjudged(t *testing.T) {
	first := with(stepAfter("a"), func(s *job.Step) { s.If = "params.n > 1" })
	w := newWorkflowWorld(t, func(j *job.Job) { j.Params = []byte(`{"n":1}`) }, first)
	id := job.NewRunID(noon)
	w.ended(job.StatusSucceeded, ofRun(id, job.CauseManual))
	w.stepped("a", job.StatusSucceeded, ofRun(id, job.CauseManual))
	want := []string{"manual: ran ; a unjudged " + finding.StepConditionUnknown.With(finding.StepParamsUnknown)}
	if d := cmp.Diff(want, w.wanted()); d != "" {
		t.Error(d)
	}
}

// What is asked for on the side of the schedule counts as no fire, unless something is wrong with it.
func TestRunsThatNoScheduleAskedForCountAsNoFires(t *testing.T) {
	var all outcome.Tally
	all.Add(&outcome.Entry{Outcome: outcome.Ran, Cause: job.CauseManual, Status: job.StatusFailed})
	all.Add(&outcome.Entry{Outcome: outcome.Discrepancy, Cause: job.CauseRerun})
	if d := cmp.Diff(outcome.Tally{Discrepancies: 1}, all); d != "" {
		t.Error(d)
	}
	if outcome.All.Selects(&outcome.Entry{Outcome: outcome.Ran, Cause: job.CauseManual}) {
		t.Error("a backfill would repeat it")
	}
}
