package shard

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

func TestFailurePolicies(t *testing.T) {
	steps := []job.Step{after("a"), after("b"), after("c", "b"), with(after("z"), func(s *job.Step) { s.Finally = true })}
	policy := func(p job.FailurePolicy) *flow {
		f := newFlow(t, steps...)
		f.fire(func(v *job.Version) { v.OnFailure = p })
		f.ends("a", job.StatusFailed, ``)
		return f
	}
	f := policy(job.FailureContinues)
	f.ends("b", job.StatusSucceeded, ``)
	f.ends("c", job.StatusSucceeded, ``)
	f.ends("z", job.StatusSucceeded, ``)
	f.wantSaid(`run failed: 1 of 4 steps ended badly: a`)
	f.wantOver()

	f = policy(job.FailureStops)
	f.wantSaid(`c cancelled: step a ended badly, after which no further step begins`)
	f.wantOut("b")
	f.ends("b", job.StatusSucceeded, ``)
	f.wantOut("z")
	f.ends("z", job.StatusSucceeded, ``)
	f.wantSaid(`run failed: 1 of 4 steps ended badly: a`)
	f.wantOver()

	f = newFlow(t, with(after("a"), func(s *job.Step) { s.MayFail = true }), after("b"), after("c", "b"))
	f.fire(func(v *job.Version) { v.OnFailure = job.FailureStops })
	f.ends("a", job.StatusFailed, ``)
	f.ends("b", job.StatusSucceeded, ``)
	f.ends("c", job.StatusSucceeded, ``)
	f.wantSaid(`run succeeded: 2 of 3 steps succeeded; 1 ended badly, as it may`)

	f = policy(job.FailureCancels)
	f.wantSaid(
		`b killed: step a ended badly, after which no further step begins`,
		`c cancelled: step a ended badly, after which no further step begins`)
	f.ends("b", job.StatusCancelled, ``)
	f.ends("z", job.StatusSucceeded, ``)
	f.wantSaid(`run failed: 1 of 4 steps ended badly: a`)
	f.wantOver()
}

func TestAStepThatCannotBeginFailsAsOneThatHasRun(t *testing.T) {
	const stopped = ": step a ended badly, after which no further step begins"
	for name, broken := range map[string]func(*job.Step){
		"condition":  onlyIf("params.gone > 1"),
		"parameters": params(`{"x": "${results.s.gone}"}`),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlow(t, after("s"), after("b"), with(after("a", "s"), broken), after("c", "b"), after("d", "a:always"),
				with(after("z"), func(s *job.Step) { s.Finally = true }))
			f.fire(func(v *job.Version) { v.OnFailure = job.FailureCancels })
			f.ends("s", job.StatusSucceeded, `{}`)
			if len(f.said) == 0 || !strings.HasPrefix(f.said[0], "b killed"+stopped) || !strings.HasPrefix(f.said[1], "a failed: its ") {
				t.Errorf("%q", f.said)
			}
			f.said = f.said[min(2, len(f.said)):]
			f.wantSaid("c cancelled"+stopped, "d cancelled"+stopped)
			f.wantOut("b")
			f.ends("b", job.StatusCancelled, ``)
			f.wantOut("z")
			f.ends("z", job.StatusSucceeded, ``)
			f.wantSaid(`run failed: 1 of 6 steps ended badly: a`)
			f.wantOver()
		})
	}
}

func TestACancelledWorkflowKillsItsStepsAndCleansUp(t *testing.T) {
	f := newFlow(t, after("a"), after("b", "a"), with(after("z"), func(s *job.Step) { s.Finally = true }))
	f.fire()
	if !f.m.Cancels.Add(f.out["a"].ParentRun, "cancelled by ann", false) {
		t.Fatal("the run cannot be cancelled")
	}
	f.goOn()
	f.wantSaid(`a killed: cancelled by ann`, `b cancelled: cancelled by ann`)
	f.succeed() // which says it again
	f.wantSaid(`a killed: cancelled by ann`)
	f.ends("a", job.StatusCancelled, ``)
	f.wantOut("z")
	f.ends("z", job.StatusSucceeded, ``)
	f.wantSaid(`run cancelled: cancelled by ann`)
	f.wantOver()
}

func TestASecondCancelByForceEndsFinallySteps(t *testing.T) {
	finally := func(s *job.Step) { s.Finally = true }
	f := newFlow(t, after("a"), with(after("y"), finally), with(after("z", "y"), finally))
	f.fire()
	run := f.out["a"].ParentRun
	f.m.Cancels.Add(run, "cancelled by ann", false)
	f.goOn()
	f.ends("a", job.StatusCancelled, ``)
	f.wantOut("y")
	f.m.Cancels.Add(run, "cancelled by bob", true)
	f.goOn()
	f.wantSaid(`a killed: cancelled by ann`, `y killed: cancelled by ann`, `z cancelled: cancelled by bob`)
	f.ends("y", job.StatusCancelled, ``)
	f.wantSaid(`run cancelled: cancelled by ann`)
	f.wantOver()
}

func TestAWorkflowThatIsCancelledWaitsForNoRetry(t *testing.T) {
	late := func(s *job.Step) { s.Retry = &job.Retry{Limit: 1, Delay: job.Duration(time.Hour)} }
	for name, end := range map[string]func(f *flow, run job.RunID){
		"cancel": func(f *flow, run job.RunID) { f.m.Cancels.Add(run, "cancelled by ann", false) },
		"stop":   func(f *flow, _ job.RunID) { f.ends("b", job.StatusFailed, ``) },
	} {
		f := newFlow(t, with(after("a"), late), after("b"), with(after("z"), func(s *job.Step) { s.Finally = true }))
		f.fire(func(v *job.Version) { v.OnFailure = job.FailureCancels })
		run := f.out["a"].ParentRun
		f.ends("a", job.StatusFailed, ``)
		end(f, run)
		f.goOn()
		if f.out["b"] != nil {
			f.ends("b", job.StatusCancelled, ``)
		}
		f.now += time.Second
		f.goOn()
		if f.out["z"] == nil {
			t.Errorf("%s: the finally step waits for a retry in an hour that will not be: %q", name, f.said)
		}
	}
}

func TestAStepThatFailsAfterACancelIsNotTriedAgain(t *testing.T) {
	f := newFlow(t, with(after("a"), func(s *job.Step) { s.Retry = &job.Retry{Limit: 1, Delay: job.Duration(time.Minute)} }))
	f.fire()
	f.m.Cancels.Add(f.out["a"].ParentRun, "cancelled by ann", false)
	f.goOn()
	f.ends("a", job.StatusFailed, ``)
	f.wantSaid(`a killed: cancelled by ann`, `run cancelled: cancelled by ann`) // and no next attempt
	f.wantOver()
}

func TestAFinallyStepIsTriedAgainAfterACancel(t *testing.T) {
	f := newFlow(t, after("a"), with(after("z"), func(s *job.Step) {
		s.Finally, s.Retry = true, &job.Retry{Limit: 1, Delay: job.Duration(time.Minute)}
	}))
	f.fire()
	f.m.Cancels.Add(f.out["a"].ParentRun, "cancelled by ann", false)
	f.goOn()
	f.ends("a", job.StatusCancelled, ``)
	f.ends("z", job.StatusFailed, ``)
	f.now += time.Minute
	f.goOn()
	f.ends("z", job.StatusSucceeded, ``)
	f.wantSaid(`a killed: cancelled by ann`, `z queued: attempt 1 failed; the next is due 1m later`, `run cancelled: cancelled by ann`)
	f.wantOver()
}

func TestAWorkflowWhoseTimeIsOverIsCalledOff(t *testing.T) {
	f := newFlow(t, after("a"), after("b", "a"), with(after("z"), func(s *job.Step) { s.Finally = true }))
	f.fire(func(v *job.Version) { v.TotalTimeout = job.Duration(time.Minute) })
	if by := noon.Add(time.Second + time.Minute); !f.out["a"].EndBy.Equal(by) {
		t.Errorf("a step is to end by %s, want %s", f.out["a"].EndBy, by)
	}
	f.now += time.Minute
	f.goOn()
	f.wantSaid(`a killed: the run took longer than 1m`, `b cancelled: the run took longer than 1m`)
	f.ends("a", job.StatusTimedOut, ``)
	if z := f.out["z"]; !z.EndBy.IsZero() || z.Timeout != job.FinallyLimit {
		t.Errorf("the finally step has the limits %s and %s", z.EndBy, z.Timeout)
	}
	f.ends("z", job.StatusSucceeded, ``)
	f.wantSaid(`run timed_out: the run took longer than 1m`)
	f.wantOver()
}

func TestADeletedJobsWorkflowBeginsNothingMore(t *testing.T) {
	f := newFlow(t, after("a"), after("b", "a"), with(after("z"), func(s *job.Step) { s.Finally = true }))
	f.fire()
	f.put(2*time.Second, 2, func(v *job.Version) { f.job(v); v.Deleted = true })
	f.now += 2 * time.Second
	f.goOn()
	f.wantSaid(`b cancelled: the job was deleted before the step began`, `z cancelled: the job was deleted before the step began`)
	f.ends("a", job.StatusSucceeded, ``)
	f.wantSaid(`run cancelled: 2 of 3 steps were cancelled: b, z`)
	f.wantOver()
}

func TestAWorkflowWithNothingToDoIsSkipped(t *testing.T) {
	f := newFlow(t, with(after("a"), onlyIf("params.x == 1")), after("b", "a"))
	f.fire(func(v *job.Version) { v.Params = json.RawMessage(`{"x":2}`) })
	f.wantSaid(`a skipped: its condition is false: params.x == 1`, `b skipped: it runs on success of step a, which ended as skipped`,
		`run skipped: none of 2 steps had anything to do`)
	f.wantOver()
}
