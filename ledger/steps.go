package ledger

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// graphJudge judges the steps of one run of a workflow. It looks at each step alone, and at how its sources
// are recorded to have ended. It is not the scheduler's code, so that a fault there is seen here.
type graphJudge struct {
	of  *job.Job    // as it was in the run's version
	run *runlog.Run // the workflow's
	// rows are the newest attempts of the steps' runs, of all rounds.
	rows map[job.RunID]*runlog.Run
	// settled says that what the history does not know has not happened.
	settled bool
	// until is an instant up to which the history has all that was decided; zero is none.
	until time.Time
	// holds evaluates the condition of a step. unknown says why it cannot be evaluated any more, err why
	// it could not be computed then either.
	holds func(s *job.Step) (holds bool, unknown, err error)
	// origin returns the run that did what a step took over, nil if nothing is known of it any more.
	origin func(id job.RunID) (*runlog.Run, error)
	// good returns how many pieces of the run of a step have succeeded.
	good func(r *runlog.Run) (int, error)
	// result returns what the run of a step has returned.
	result func(r *runlog.Run) (json.RawMessage, error)
}

// row returns what is recorded of the newest round of a step, nil if nothing is. Each round has left a row.
func (j *graphJudge) row(step string) (newest *runlog.Run) {
	for round := 1; ; round++ {
		r := j.rows[job.RoundRunID(j.run.RunID, step, round)]
		if r == nil {
			return newest
		}
		newest = r
	}
}

// strays returns the rows that are of no step of the version.
func (j *graphJudge) strays() map[job.RunID]*runlog.Run {
	strays := maps.Clone(j.rows)
	for i := range j.of.Steps {
		for round := 1; ; round++ {
			id := job.RoundRunID(j.run.RunID, j.of.Steps[i].Name, round)
			if j.rows[id] == nil {
				break
			}
			delete(strays, id)
		}
	}
	return strays
}

// status returns how a step has ended, "" if it has not.
func (j *graphJudge) status(step string) job.Status {
	if r := j.row(step); r != nil && r.StepStatus().Final() {
		return r.StepStatus()
	}
	return ""
}

// judge returns what became of each step, in the order of the document, and what contradicts the graph in the run
// as a whole, "" if nothing does.
func (j *graphJudge) judge() (steps []outcome.Step, wrong string) {
	if !j.begun() {
		return nil, ""
	}
	var bad []string
	for i := range j.of.Steps {
		s := &j.of.Steps[i]
		e := j.step(s)
		steps = append(steps, e)
		if e.Outcome == outcome.StepDiscrepancy {
			bad = append(bad, s.Name)
		}
	}
	for id := range j.strays() {
		return steps, finding.StepOfNoWorkflow.With(id, j.run.Version)
	}
	if len(bad) > 0 {
		return steps, finding.StepsContradict.With(strings.Join(bad, ", "))
	}
	if j.stuck() {
		return steps, finding.WorkflowNotEnded.String()
	}
	if want := j.end(); want != "" && want != j.run.RunStatus() {
		return steps, finding.WorkflowStatusWrong.With(want)
	}
	return steps, ""
}

// stuck reports whether all steps have ended and the run has not, long enough ago.
func (j *graphJudge) stuck() bool {
	if j.run.RunStatus().Final() {
		return false
	}
	for i := range j.of.Steps {
		if name := j.of.Steps[i].Name; j.status(name) == "" || !j.row(name).FinishedAt.Add(StepTolerance).Before(j.until) {
			return false
		}
	}
	return true
}

// begun reports whether the run has come to its steps. One that was queued may have ended without.
func (j *graphJudge) begun() bool {
	if len(j.rows) > 0 || !j.run.RunStartedAt().IsZero() {
		return true
	}
	switch j.run.RunStatus() { //nolint:exhaustive // in the others it has not
	case job.StatusSucceeded, job.StatusFailed, job.StatusTimedOut:
		return true
	}
	return skippedBySteps(j.run.Reason)
}

// step returns what became of a step.
func (j *graphJudge) step(s *job.Step) outcome.Step {
	e := outcome.Step{Step: s.Name, RunID: job.StepRunID(j.run.RunID, s.Name), Outcome: outcome.StepPending}
	r := j.row(s.Name)
	if r != nil {
		e.RunID, e.Status, e.Attempt, e.Reason = r.RunID, r.StepStatus(), r.Attempt, why(r)
		e.StartedAt, e.FinishedAt = r.RunStartedAt(), r.FinishedAt
	}
	contradict := func(why string) outcome.Step { return contradictStep(e, why) }
	if j.status(s.Name) == "" {
		if j.run.RunStatus().Final() && j.settled {
			return contradict(finding.StepNothingKnown.String())
		}
		return e
	}
	switch e.Status { //nolint:exhaustive // any other has run
	case job.StatusSkipped:
		e.Outcome = outcome.StepSkipped
	case job.StatusCancelled:
		e.Outcome = outcome.StepCancelled
		return e // whoever called it off did not ask the graph
	default:
		e.Outcome = outcome.StepRan
	}
	switch said := reason.Read(string(e.Reason)); said.Code {
	case reason.StepResolved.Code:
		return e // nor did the person who resolved it
	case reason.StepTaken.Code:
		return j.taken(s, e, job.RunID(said.Params["run_id"]))
	}
	skips, open := j.edges(s)
	ran := e.Outcome == outcome.StepRan
	switch {
	case open != "" && !j.settled:
		return e // how its source ended is on its way
	case open != "":
		return contradict(finding.StepBeforeSource.With(open))
	case skips != "" && ran:
		return contradict(finding.StepNotOwed.With(skips))
	case skips == "" && s.If == "" && !ran:
		return contradict(finding.StepOwed.With("its edges are met"))
	case skips == "" && s.If != "":
		e = j.condition(s, e)
	}
	switch {
	case e.Outcome != outcome.StepRan:
	case s.Wait != nil:
		return j.waited(s, e)
	default:
		return j.inPieces(s, e)
	}
	return e
}

// taken judges a step that is said to be taken over from another run, in which it had the run origin. Its edges
// were not asked.
func (j *graphJudge) taken(s *job.Step, e outcome.Step, origin job.RunID) outcome.Step {
	if j.run.Cause != job.CauseRerun || s.Finally || e.Status != job.StatusSucceeded {
		return contradictStep(e, finding.StepNotTakeable.String())
	}
	switch was, err := j.origin(origin); {
	case err != nil || was == nil:
		e.Outcome, e.Reason = outcome.StepUnjudged, reason.Text(finding.StepOriginUnknown.With(origin))
	case was.Step != s.Name || was.StepStatus() != job.StatusSucceeded:
		return contradictStep(e, finding.StepTakenBadly.With(origin, was.StepStatus()))
	}
	return e
}

// condition judges a step whose edges say that its condition decides.
func (j *graphJudge) condition(s *job.Step, e outcome.Step) outcome.Step {
	ran := e.Outcome == outcome.StepRan
	holds, unknown, err := j.holds(s)
	computed := reason.Read(string(e.Reason)).Code != reason.StepConditionError.Code
	switch {
	case unknown != nil:
		e.Outcome, e.Reason = outcome.StepUnjudged, reason.Text(finding.StepConditionUnknown.With(unknown))
	case err != nil && (!ran || computed):
		return contradictStep(e, finding.StepHadToFail.With(reason.StepConditionError.With(err)))
	case err == nil && !computed:
		return contradictStep(e, finding.StepOwed.With("its condition can be computed"))
	case err == nil && holds && !ran:
		return contradictStep(e, finding.StepOwed.With("its condition is true"))
	case err == nil && !holds && ran:
		return contradictStep(e, finding.StepNotOwed.With(reason.StepCondition.With(s.If)))
	}
	return e
}

func contradictStep(e outcome.Step, why string) outcome.Step {
	e.Outcome, e.Reason = outcome.StepDiscrepancy, reason.Text(why)
	return e
}

// end returns how the run had to end by its steps, "" if more than its steps says how, or if that cannot be told.
func (j *graphJudge) end() job.Status {
	is, code := j.run.RunStatus(), reason.Read(string(j.run.Reason)).Code
	switch {
	case !is.Final(), is == job.StatusLost, is == job.StatusMissed:
		return ""
	case is == job.StatusTimedOut:
		if j.of.TotalTimeout > 0 {
			return ""
		}
	case is == job.StatusCancelled && code != reason.StepsCancelled.Code:
		return "" // somebody cancelled the run itself
	case is == job.StatusFailed && code == reason.WorkflowResult.Code:
		return ""
	}
	want, ran := job.StatusSucceeded, false
	for i := range j.of.Steps {
		s := &j.of.Steps[i]
		status := j.status(s.Name)
		switch {
		case status == "":
			return ""
		case status == job.StatusSkipped:
			continue
		case endedBadly(status) && !s.MayFail:
			want = job.StatusFailed
		case status == job.StatusCancelled && !s.MayFail && want == job.StatusSucceeded:
			want = job.StatusCancelled
		}
		ran = ran || status != job.StatusCancelled
	}
	if want == job.StatusSucceeded && !ran {
		want = job.StatusSkipped
	}
	return want
}
