package ledger

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/workflow"
)

// How much later the end of a source may be, by the clock that told it, than when the step was decided.
const (
	// OwnerTolerance is for two instants by the clocks of servers that own shards. Each is in line to two seconds.
	OwnerTolerance = 5 * time.Second
	// ExecutorTolerance is for ends by the clock of an executor, which is believed if it is a minute ahead.
	ExecutorTolerance = time.Minute + OwnerTolerance
)

// decided returns when the newest round of a step was decided: that it runs, waits or is skipped. It is zero if that
// is not known.
func (j *graphJudge) decided(step string) time.Time {
	r := j.row(step)
	switch {
	case r == nil:
		return time.Time{}
	case r.Wait != nil:
		return r.Wait.Since
	case r.Attempt == 1:
		return r.CommittedAt
	case r.RunID == job.StepRunID(j.run.RunID, step): // of a later round, it may be when that began
		return r.FirstDecidedAt
	}
	return time.Time{}
}

// statusThen returns how a step had ended at an instant, "" if it had not. If that is zero, it returns how the step has
// ended since.
func (j *graphJudge) statusThen(step string, at time.Time) job.Status {
	is := j.status(step)
	if is == "" || at.IsZero() {
		return is
	}
	r := j.row(step)
	tolerance := OwnerTolerance
	if r.Instance != "" {
		tolerance = ExecutorTolerance
	}
	if r.FinishedAt.After(at.Add(tolerance)) {
		return ""
	}
	return is
}

// edges lays the ends of a step's sources, as they were when the step was decided, beside its edges. skips is why it had to be skipped, "" if it did not;
// open names a source that had to end first, and has not.
func (j *graphJudge) edges(s *job.Step) (skips, open string) {
	decided := j.decided(s.Name)
	if s.Finally {
		for i := range j.of.Steps {
			if main := &j.of.Steps[i]; !main.Finally && j.statusThen(main.Name, decided) == "" {
				return "", main.Name
			}
		}
	}
	met, skipped, unmet := 0, 0, []string(nil)
	for _, e := range s.After {
		is := j.statusThen(e.Step, decided)
		switch {
		case is == "":
			open = e.Step
		case meets(e.On, is):
			met++
		default:
			if is == job.StatusSkipped {
				skipped++
			}
			unmet = append(unmet, reason.StepNeeds.With(e.On, e.Step, is))
		}
	}
	enough := met == len(s.After)
	switch {
	case s.Join.Taken && len(s.After) > 0:
		enough = met > 0 && met+skipped == len(s.After)
	case s.Join.Least > 0:
		if enough = met >= s.Join.Least; enough || len(unmet) > len(s.After)-s.Join.Least {
			open = "" // it does not wait for the others
		}
	}
	if open != "" || enough {
		return "", open
	}
	return reason.Join(unmet...), ""
}

// meets reports whether the end of a source meets an edge.
func meets(on workflow.On, s job.Status) bool {
	switch on {
	case workflow.OnAlways:
		return true
	case workflow.OnEnd:
		return s == job.StatusSucceeded || endedBadly(s)
	case workflow.OnFailure:
		return endedBadly(s)
	case workflow.OnSuccess:
	}
	return s == job.StatusSucceeded
}

func endedBadly(s job.Status) bool {
	return s == job.StatusFailed || s == job.StatusTimedOut || s == job.StatusLost || s == job.StatusMissed
}
