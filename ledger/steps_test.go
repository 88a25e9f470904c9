package ledger_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/logstore"
)

// stepAfter returns a step that comes after others, each "name" or "name on condition".
func stepAfter(name string, sources ...string) job.Step {
	s := job.Step{Step: workflow.Step{Name: name}, Task: job.Task{Shell: "true"}}
	for _, text := range sources {
		source, on, _ := strings.Cut(text, " on ")
		if on == "" {
			on = string(workflow.OnSuccess)
		}
		s.After = append(s.After, workflow.Edge{Step: source, On: workflow.On(on)})
	}
	return s
}

func with(s job.Step, change func(*job.Step)) job.Step {
	change(&s)
	return s
}

// newWorkflowWorld returns the evidence about a workflow that fires at noon.
func newWorkflowWorld(t *testing.T, change func(*job.Job), steps ...job.Step) *world {
	t.Helper()
	w := newWorld(t)
	once := noon
	j := job.Job{Job: report, Steps: steps}
	j.Schedule.Once = &once
	if change != nil {
		change(&j)
	}
	j = j.WithDefaults()
	if err := j.Validate(); err != nil {
		t.Fatal(err)
	}
	w.Versions = append(w.Versions, &bus.JobEntry{Version: job.Version{Job: j, Version: 1, EffectiveFrom: at(-60)}, Revision: 1})
	return w
}

var workflowRun = job.FireRunID(report, noon.UnixMilli(), job.CauseSchedule)

// stepped has the history say what became of a step.
func (w *world) stepped(step string, s job.Status, change ...func(*logstore.Update)) {
	w.Helper()
	u := logstore.Update{
		Kind: runlog.KindRecorded, RunID: job.StepRunID(workflowRun, step), Job: report, Version: 1, Attempt: 1, Cause: job.CauseStep,
		Parent: workflowRun, Step: step, At: noon.Add(time.Second), Status: s,
	}
	for _, f := range change {
		f(&u)
	}
	if err := w.Store.WriteRuns(w.Context(), "", []logstore.Update{u}); err != nil {
		w.Fatal(err)
	}
}

func because(code string) func(*logstore.Update) {
	return func(u *logstore.Update) { u.Reason = code }
}

// returned makes an update that of an executor which returns a value.
func returned(result string) func(*logstore.Update) {
	return func(u *logstore.Update) {
		u.Kind, u.StartedAt, u.FinishedAt, u.Result = runlog.KindFinished, u.At, u.At, json.RawMessage(result)
	}
}

// steps returns the outcome of the fire at noon, its reason, and a line for each step.
func (w *world) steps() (fire string, steps []string) {
	w.Helper()
	if _, err := w.Judge(w.Context(), at(0), at(1), func(e *outcome.Entry) bool {
		fire = strings.TrimSpace(fmt.Sprintf("%s %s", e.Outcome, e.Reason))
		for _, s := range e.Steps {
			steps = append(steps, strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Step, s.Outcome, s.Reason)))
		}
		return true
	}); err != nil {
		w.Fatal(err)
	}
	return fire, steps
}

// Each case is a workflow of which the history says something, and what the ledger says of that.
func TestEachStepIsLaidBesideTheGraph(t *testing.T) {
	chain := []job.Step{stepAfter("a"), stepAfter("b", "a")}
	needs := reason.StepNeeds.With("success", "a", job.StatusFailed)
	ifA := with(stepAfter("b", "a"), func(s *job.Step) { s.If = "results.a.rows > 0" })
	finally := with(stepAfter("z"), func(s *job.Step) { s.Finally = true })
	type said map[string]job.Status
	for name, c := range map[string]struct {
		steps  []job.Step
		change func(*job.Job)
		run    job.Status
		why    string // of the run
		said   said
		result string // of a
		fire   string
		want   []string
	}{
		"a chain that succeeded": {steps: chain, run: job.StatusSucceeded, said: said{"a": job.StatusSucceeded, "b": job.StatusSucceeded}, fire: "ran", want: []string{"a ran", "b ran"}},
		"a step after one that failed is skipped": {
			steps: chain, run: job.StatusFailed, said: said{"a": job.StatusFailed, "b": job.StatusSkipped}, fire: "ran", want: []string{"a ran", "b skipped"},
		},
		"a step that ran though its source failed": {
			steps: chain, run: job.StatusFailed, said: said{"a": job.StatusFailed, "b": job.StatusSucceeded},
			fire: "discrepancy its steps contradict their graph: b", want: []string{"a ran", "b discrepancy it ran, and had to be skipped: " + needs},
		},
		"a step that was skipped though its source succeeded": {
			steps: chain, run: job.StatusSucceeded, said: said{"a": job.StatusSucceeded, "b": job.StatusSkipped},
			fire: "discrepancy its steps contradict their graph: b", want: []string{"a ran", "b discrepancy it was skipped, and had to run: its edges are met"},
		},
		"a step of which nothing is known": {
			steps: chain, run: job.StatusSucceeded, said: said{"a": job.StatusSucceeded},
			fire: "discrepancy its steps contradict their graph: b", want: []string{"a ran", "b discrepancy " + finding.StepNothingKnown.String()},
		},
		"a step that ran before its source": {
			steps: chain, run: job.StatusSucceeded, said: said{"b": job.StatusSucceeded},
			fire: "discrepancy its steps contradict their graph: a, b",
			want: []string{"a discrepancy " + finding.StepNothingKnown.String(), "b discrepancy " + finding.StepBeforeSource.With("a")},
		},
		"a run that has not ended, though its steps have": {
			steps: chain, run: job.StatusRunning, said: said{"a": job.StatusSucceeded, "b": job.StatusSucceeded},
			fire: "discrepancy " + finding.WorkflowNotEnded.String(), want: []string{"a ran", "b ran"},
		},
		"a run that is not over":               {steps: chain, run: job.StatusRunning, said: said{"a": job.StatusSucceeded}, fire: "pending", want: []string{"a ran", "b pending"}},
		"a run that ended while it was queued": {steps: chain, run: job.StatusCancelled, why: reason.Cancelled.String(), fire: "ran " + reason.Cancelled.String()},
		"a run that is green though a step failed": {
			steps: chain[:1], run: job.StatusSucceeded, said: said{"a": job.StatusFailed},
			fire: "discrepancy " + finding.WorkflowStatusWrong.With(job.StatusFailed), want: []string{"a ran"},
		},
		"a run that failed though its step may fail": {
			steps: []job.Step{with(stepAfter("a"), func(s *job.Step) { s.MayFail = true })}, run: job.StatusFailed, said: said{"a": job.StatusFailed},
			fire: "discrepancy " + finding.WorkflowStatusWrong.With(job.StatusSucceeded), want: []string{"a ran"},
		},
		"a run that was cancelled": {
			steps: []job.Step{stepAfter("a"), stepAfter("b", "a"), finally}, run: job.StatusCancelled, why: reason.Cancelled.String(),
			said: said{"a": job.StatusSucceeded, "b": job.StatusCancelled, "z": job.StatusSucceeded}, fire: "ran " + reason.Cancelled.String(),
			want: []string{"a ran", "b cancelled", "z ran"},
		},
		"a limit that the job does not have": {
			steps: chain[:1], run: job.StatusTimedOut, said: said{"a": job.StatusSucceeded},
			fire: "discrepancy " + finding.WorkflowStatusWrong.With(job.StatusSucceeded), want: []string{"a ran"},
		},
		"a condition that held": {steps: []job.Step{chain[0], ifA}, run: job.StatusSucceeded, result: `{"rows":3}`, said: said{"a": job.StatusSucceeded, "b": job.StatusSucceeded}, fire: "ran", want: []string{"a ran", "b ran"}},
		"a condition that did not hold": {
			steps: []job.Step{chain[0], ifA}, run: job.StatusSucceeded, result: `{"rows":0}`, said: said{"a": job.StatusSucceeded, "b": job.StatusSkipped}, fire: "ran", want: []string{"a ran", "b skipped"},
		},
		"a step that ran against its condition": {
			steps: []job.Step{chain[0], ifA}, run: job.StatusSucceeded, result: `{"rows":0}`, said: said{"a": job.StatusSucceeded, "b": job.StatusSucceeded},
			fire: "discrepancy its steps contradict their graph: b", want: []string{"a ran", "b discrepancy " + finding.StepNotOwed.With(reason.StepCondition.With("results.a.rows > 0"))},
		},
		"a step that was skipped against its condition": {
			steps: []job.Step{chain[0], ifA}, run: job.StatusSucceeded, result: `{"rows":3}`, said: said{"a": job.StatusSucceeded, "b": job.StatusSkipped},
			fire: "discrepancy its steps contradict their graph: b", want: []string{"a ran", "b discrepancy it was skipped, and had to run: its condition is true"},
		},
		"a step that was skipped though its condition cannot be computed": {
			steps: []job.Step{chain[0], ifA}, run: job.StatusSucceeded, result: `{"lines":3}`, said: said{"a": job.StatusSucceeded, "b": job.StatusSkipped},
			fire: "discrepancy its steps contradict their graph: b", want: []string{"a ran", "b discrepancy " + finding.StepHadToFail.With(reason.StepConditionError.With("no such key: rows"))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkflowWorld(t, c.change, c.steps...)
			w.wrote(0, job.StatusPending)
			if c.run != job.StatusCancelled {
				w.wrote(0, job.StatusRunning, func(u *logstore.Update) { u.Kind, u.StartedAt = runlog.KindStarted, noon.Add(time.Second) })
			}
			for step, s := range c.said {
				switch s { //nolint:exhaustive // any other is the end of an attempt
				case job.StatusSkipped, job.StatusCancelled:
					w.stepped(step, s)
				default:
					w.stepped(step, job.StatusPending)
					w.stepped(step, s, returned(map[string]string{"a": c.result}[step]))
				}
			}
			if c.run.Final() {
				w.wrote(0, c.run, because(c.why), func(u *logstore.Update) { u.At = noon.Add(time.Minute) })
			}
			fire, got := w.steps()
			if d := cmp.Diff(c.fire, fire); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// A step that failed is retried, and one that it follows is resolved: the newest round of each counts.
func TestTheNewestRoundOfAStepIsJudged(t *testing.T) {
	w := newWorkflowWorld(t, nil, stepAfter("a"), stepAfter("b", "a"), stepAfter("c", "a"))
	w.wrote(0, job.StatusRunning, func(u *logstore.Update) { u.Kind, u.StartedAt = runlog.KindStarted, noon.Add(time.Second) })
	w.stepped("a", job.StatusPending)
	w.stepped("a", job.StatusFailed, returned(""))
	w.stepped("b", job.StatusSkipped)
	w.stepped("c", job.StatusSkipped)
	again := func(step string) func(*logstore.Update) {
		return func(u *logstore.Update) { u.RunID = job.RoundRunID(workflowRun, step, 2) }
	}
	w.stepped("a", job.StatusPending, again("a"))
	w.stepped("a", job.StatusSucceeded, again("a"), returned(""))
	w.stepped("b", job.StatusPending, again("b"))
	w.stepped("b", job.StatusSucceeded, again("b"), returned(""))
	w.stepped("c", job.StatusSkipped, again("c"), because(reason.StepResolved.With("ann")))
	w.wrote(0, job.StatusSucceeded, func(u *logstore.Update) { u.At = noon.Add(time.Minute) })
	fire, got := w.steps()
	if d := cmp.Diff("ran", fire); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a ran", "b ran", "c skipped " + reason.StepResolved.With("ann")}, got); d != "" {
		t.Error(d)
	}
}

// The history says when steps were decided and have ended, each by the clock of a server or of an executor.
func TestAStepHasToWaitUntilItsSourcesHaveEnded(t *testing.T) {
	for name, c := range map[string]struct {
		join  workflow.Join
		other time.Duration // when the other source of c ended, after c was decided
		by    string        // which instance says so
		skip  bool
		want  string
	}{
		"after all had ended":                         {other: -time.Minute, want: "c ran"},
		"with a clock that is two seconds behind":     {other: 2 * time.Second, want: "c ran"},
		"before one had ended":                        {other: 10 * time.Second, want: "c discrepancy " + finding.StepBeforeSource.With("b")},
		"with an executor whose clock is ahead":       {other: 50 * time.Second, by: "i", want: "c ran"},
		"before an executor had ended one":            {other: 2 * time.Minute, by: "i", want: "c discrepancy " + finding.StepBeforeSource.With("b")},
		"one is enough":                               {other: time.Minute, join: workflow.Join{Least: 1}, want: "c ran"},
		"two are enough":                              {other: time.Minute, join: workflow.Join{Least: 2}, want: "c discrepancy " + finding.StepBeforeSource.With("b")},
		"it was skipped before one had ended":         {other: time.Minute, skip: true, want: "c discrepancy " + finding.StepBeforeSource.With("b")},
		"it was skipped as there could not be enough": {other: time.Minute, skip: true, join: workflow.Join{Least: 2}, want: "c skipped"},
		"it was skipped though there could be enough": {other: time.Minute, skip: true, join: workflow.Join{Least: 1}, want: "c discrepancy " + finding.StepBeforeSource.With("b")},
	} {
		t.Run(name, func(t *testing.T) {
			last := with(stepAfter("c", "a", "b"), func(s *job.Step) { s.Join = c.join })
			w := newWorkflowWorld(t, nil, stepAfter("a"), stepAfter("b"), last)
			w.wrote(0, job.StatusRunning, func(u *logstore.Update) { u.Kind, u.StartedAt = runlog.KindStarted, noon.Add(time.Second) })
			decided := noon.Add(5 * time.Minute)
			when := func(t time.Time) func(*logstore.Update) { return func(u *logstore.Update) { u.At = t } }
			of := map[bool]job.Status{true: job.StatusFailed, false: job.StatusSucceeded}[c.skip]
			w.stepped("a", of, when(noon.Add(time.Minute)))
			w.stepped("b", job.StatusPending)
			w.stepped("b", job.StatusSucceeded, when(decided.Add(c.other)), returned(""), func(u *logstore.Update) { u.Instance = c.by })
			if c.skip {
				w.stepped("c", job.StatusSkipped, when(decided))
			} else {
				w.stepped("c", job.StatusPending, when(decided))
				w.stepped("c", job.StatusSucceeded, when(decided.Add(10*time.Minute)), returned(""))
			}
			w.wrote(0, map[bool]job.Status{true: job.StatusFailed, false: job.StatusSucceeded}[c.skip], func(u *logstore.Update) { u.At = noon.Add(time.Hour) })
			_, got := w.steps()
			if d := cmp.Diff(c.want, got[2]); d != "" {
				t.Error(d)
			}
		})
	}
}

// A step that was retried is decided in its newest round, whatever the attempts and rounds before were.
func TestOfARoundThatBeganBeforeItsSourceEndedTheDecisionCounts(t *testing.T) {
	w := newWorkflowWorld(t, nil, stepAfter("a"), stepAfter("b", "a"))
	w.wrote(0, job.StatusRunning, func(u *logstore.Update) { u.Kind, u.StartedAt = runlog.KindStarted, noon.Add(time.Second) })
	at := func(step string, round, attempt int, s job.Status, when time.Duration) {
		w.stepped(step, s, func(u *logstore.Update) {
			u.RunID, u.Attempt, u.At = job.RoundRunID(workflowRun, step, round), attempt, noon.Add(when)
		})
	}
	at("a", 1, 1, job.StatusFailed, time.Minute)
	at("b", 1, 1, job.StatusSkipped, time.Minute)
	at("a", 2, 1, job.StatusQueued, 2*time.Minute)
	at("b", 2, 1, job.StatusQueued, 2*time.Minute)
	at("a", 2, 1, job.StatusPending, 2*time.Minute)
	at("a", 2, 1, job.StatusSucceeded, 20*time.Minute)
	at("b", 2, 1, job.StatusPending, 20*time.Minute)
	at("b", 2, 2, job.StatusQueued, 21*time.Minute)
	at("b", 2, 2, job.StatusPending, 22*time.Minute)
	at("b", 2, 2, job.StatusSucceeded, 23*time.Minute)
	w.wrote(0, job.StatusSucceeded, func(u *logstore.Update) { u.At = noon.Add(time.Hour) })
	if fire, got := w.steps(); fire != "ran" {
		t.Error(fire, got)
	}
}

// A called run that was skipped has failed its step, and one that took too long has timed it out.
func TestACalledRunIsJudgedByWhatItsStepMakesOfIt(t *testing.T) {
	for status, want := range map[job.Status]job.Status{job.StatusSkipped: job.StatusFailed, job.StatusCancelled: job.StatusTimedOut} {
		w := newWorkflowWorld(t, nil, job.Step{Step: workflow.Step{Name: "a"}, Call: "ops/b"}, stepAfter("b", "a on failure"))
		w.wrote(0, job.StatusRunning, func(u *logstore.Update) { u.Kind, u.StartedAt = runlog.KindStarted, noon.Add(time.Second) })
		called := func(u *logstore.Update) { u.Job, u.Cause, u.Reason = "ops/b", job.CauseParent, "" }
		w.stepped("a", status, called, because(reason.CallTimedOut.With(job.Duration(time.Minute))))
		w.stepped("b", job.StatusPending)
		w.stepped("b", job.StatusSucceeded, returned(""))
		w.wrote(0, job.StatusFailed, func(u *logstore.Update) { u.At = noon.Add(time.Minute) })
		fire, got := w.steps()
		if fire != "ran" || len(got) != 2 || !strings.HasPrefix(got[0], "a ran") || got[1] != "b ran" {
			t.Errorf("a called run that is %s, and so a step that is %s: %s %v", status, want, fire, got)
		}
	}
}
