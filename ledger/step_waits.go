package ledger

import (
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// looksAtRuns is of how many runs for which a step has waited it is looked up that they succeeded.
const looksAtRuns = 25

// waited judges the end of a step that waits in the place of a task.
func (j *graphJudge) waited(s *job.Step, e outcome.Step) outcome.Step {
	r := j.row(s.Name)
	why := ""
	switch w := r.Wait; {
	case e.Status == job.StatusTimedOut:
		why = expired(s.Wait, r)
	case s.Wait.Approval == nil && reason.Read(string(r.Reason)).Code == reason.StepRejected.Code:
		why = finding.StepWaitRejected.With(r.By) // it was no approval
	case e.Status != job.StatusSucceeded:
	case w == nil:
		if s.Wait.Kind() != "until" && s.Wait.Kind() != "signal" { // which may have come before
			why = finding.StepWaitUnbegun.String()
		}
	case w.Kind != kindOf(s.Wait):
		why = finding.StepWaitUnbegun.String()
	case w.Kind == runlog.WaitTime:
		why = endedBefore(r, latest(w.At, w.Since.Add(s.Wait.For.Std())))
	case w.Kind == runlog.WaitApproval:
		why = j.approved(s.Wait.Approval, r)
	case w.Kind == runlog.WaitSignal:
		if r.By == "" && r.Reason == "" {
			why = finding.StepWaitUnsignalled.With(w.Signal)
		}
	case w.Kind == runlog.WaitRuns:
		why = j.awaited(w.Runs, r)
	}
	if why != "" {
		return contradictStep(e, why)
	}
	return e
}

// kindOf returns what a wait of a document is for.
func kindOf(w *job.Wait) runlog.WaitKind {
	switch w.Kind() {
	case "for", "until":
		return runlog.WaitTime
	}
	return runlog.WaitKind(w.Kind())
}

// endedBefore says that a step ended before an instant, "" if it did not.
func endedBefore(r *runlog.Run, at time.Time) string {
	if r.FinishedAt.Add(OwnerTolerance).Before(at) {
		return finding.StepWaitEarly.With(at)
	}
	return ""
}

// expired says why what a step waited for cannot have taken too long; "" if it can.
func expired(of *job.Wait, r *runlog.Run) string {
	switch {
	case r.Wait == nil:
		return finding.StepWaitUnbegun.String()
	case r.Wait.Expires.IsZero():
		return finding.StepWaitEndless.String()
	}
	return endedBefore(r, latest(r.Wait.Expires, r.Wait.Since.Add(of.Expires.Std())))
}

// approved says why a step is not approved; "" if it is.
func (j *graphJudge) approved(of *job.Approval, r *runlog.Run) string {
	by := map[string]bool{}
	for _, a := range r.Wait.Approvals {
		by[a.By] = true
	}
	if r.By != "" {
		by[r.By] = true
	}
	least := r.Wait.Min
	if of != nil {
		least = max(least, of.Least())
	}
	switch {
	case len(by) < least:
		return finding.StepWaitTooFew.With(len(by), least)
	case r.Wait.NotByRequester && j.run.By != "" && by[j.run.By]:
		return finding.StepWaitByRequester.With(j.run.By)
	}
	return ""
}

// awaited says what contradicts that the runs are there for which a step has waited; "" if nothing does.
func (j *graphJudge) awaited(of *runlog.AwaitedRuns, r *runlog.Run) string {
	data, err := j.result(r)
	if err != nil {
		return "" // it has been deleted since
	}
	var evidence struct {
		Met  int `json:"met"`
		Of   int `json:"of"`
		Runs []struct {
			FireTime time.Time `json:"fire_time"`
			RunID    job.RunID `json:"run_id"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(data, &evidence); err != nil || of == nil {
		return finding.StepWaitNoEvidence.String()
	}
	if evidence.Met < of.Need.Of(evidence.Of) || len(evidence.Runs) < min(evidence.Met, 1) {
		return finding.StepWaitFewRuns.With(evidence.Met, evidence.Of)
	}
	to := of.To
	if of.Last > 0 {
		to = j.run.FireTime
	}
	for i, run := range evidence.Runs {
		if run.FireTime.Before(of.From) || !run.FireTime.Before(to) {
			return finding.StepWaitOtherRun.With(run.RunID, "not of the awaited fires")
		}
		if i >= looksAtRuns {
			continue
		}
		was, err := j.origin(run.RunID)
		if err != nil || was == nil || was.RunStatus() == job.StatusSkipped && of.Skipped == job.SkippedOK {
			continue
		}
		if was.Job != of.Job || was.RunStatus() != job.StatusSucceeded {
			return finding.StepWaitOtherRun.With(run.RunID, was.RunStatus())
		}
	}
	return ""
}
