package ledger_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/job/workflow"
	"github.com/carillon-scheduler/carillon/logstore"
)

// A step began to wait a minute after noon. Each case is what the history says of that and of its end, and what the
// ledger says.
func TestTheEndOfAWaitHasToFitWhatIsWaitedFor(t *testing.T) {
	since := at(1)
	approval := func(least int, by ...string) *runlog.Wait {
		w := &runlog.Wait{Kind: runlog.WaitApproval, By: job.ByOperators, Min: least}
		for _, name := range by {
			w.Approvals = append(w.Approvals, runlog.Approval{By: name, At: at(2)})
		}
		return w
	}
	const hour job.Name = "etl/hour"
	awaited := &runlog.Wait{Kind: runlog.WaitRuns, Runs: &runlog.AwaitedRuns{Job: hour, From: at(-120), To: at(0)}}
	last := &runlog.Wait{Kind: runlog.WaitRuns, Runs: &runlog.AwaitedRuns{Job: hour, Last: 1}}
	hourly := func(minute int) job.RunID { return job.FireRunID(hour, at(minute).UnixMilli(), job.CauseSchedule) }
	met := func(n, of int, minutes ...int) string {
		var runs []string
		for _, m := range minutes {
			runs = append(runs, fmt.Sprintf(`{"fire_time":%q,"run_id":%q}`, at(m).Format(time.RFC3339), hourly(m)))
		}
		return fmt.Sprintf(`{"met":%d,"of":%d,"runs":[%s]}`, n, of, strings.Join(runs, ","))
	}
	ofRuns := job.Wait{Runs: &job.AwaitedRuns{Job: hour, From: "2026-01-05T10:00:00Z", To: "2026-01-05T12:00:00Z"}}
	ofApproval := job.Wait{Approval: &job.Approval{Min: 2}, Expires: job.Duration(time.Hour)}
	over := func(r reason.One, of any) string { return "discrepancy " + r.With(of) }
	for name, c := range map[string]struct {
		of     job.Wait
		began  *runlog.Wait // nil: nothing is known of that
		end    job.Status
		minute int // when it ended
		by     string
		why    string // by a record
		result string
		want   string // but for its reason, if it ran
	}{
		"for: it has waited":                                  {of: job.Wait{For: job.Duration(9 * time.Minute)}, began: &runlog.Wait{Kind: runlog.WaitTime, At: at(10)}, minute: 10, want: "ran"},
		"for: it ended early":                                 {of: job.Wait{For: job.Duration(9 * time.Minute)}, began: &runlog.Wait{Kind: runlog.WaitTime, At: at(10)}, minute: 9, want: over(finding.StepWaitEarly, at(10))},
		"for: its end is early":                               {of: job.Wait{For: job.Duration(9 * time.Minute)}, began: &runlog.Wait{Kind: runlog.WaitTime, At: at(5)}, minute: 5, want: over(finding.StepWaitEarly, at(10))},
		"for: it did not begin":                               {of: job.Wait{For: job.Duration(9 * time.Minute)}, minute: 20, want: "discrepancy " + finding.StepWaitUnbegun.String()},
		"until: it has waited":                                {of: job.Wait{Until: "2026-01-05T12:10:00Z"}, began: &runlog.Wait{Kind: runlog.WaitTime, At: at(10)}, minute: 10, want: "ran"},
		"until: it ended early":                               {of: job.Wait{Until: "2026-01-05T12:10:00Z"}, began: &runlog.Wait{Kind: runlog.WaitTime, At: at(10)}, minute: 9, want: over(finding.StepWaitEarly, at(10))},
		"until: it was over":                                  {of: job.Wait{Until: "2026-01-05T11:00:00Z"}, minute: 1, want: "ran"},
		"signal: it came":                                     {of: job.Wait{Signal: "paid"}, began: &runlog.Wait{Kind: runlog.WaitSignal, Signal: "paid"}, minute: 2, by: "shop", want: "ran"},
		"signal: it came early":                               {of: job.Wait{Signal: "paid"}, minute: 2, by: "shop", want: "ran"},
		"signal: none came":                                   {of: job.Wait{Signal: "paid"}, began: &runlog.Wait{Kind: runlog.WaitSignal, Signal: "paid"}, minute: 2, want: over(finding.StepWaitUnsignalled, "paid")},
		"signal: another wait":                                {of: job.Wait{Signal: "paid"}, began: approval(1, "ann"), minute: 2, by: "ann", want: "discrepancy " + finding.StepWaitUnbegun.String()},
		"approval: two approved":                              {of: ofApproval, began: approval(2, "ann", "bob"), minute: 2, by: "bob", want: "ran"},
		"approval: the last one is named by the end alone":    {of: ofApproval, began: approval(2, "ann"), minute: 2, by: "bob", want: "ran"},
		"approval: one approved":                              {of: ofApproval, began: approval(2, "ann"), minute: 2, by: "ann", want: "discrepancy " + finding.StepWaitTooFew.With(1, 2)},
		"approval: one approved, and the record asks for one": {of: ofApproval, began: approval(1, "ann"), minute: 2, by: "ann", want: "discrepancy " + finding.StepWaitTooFew.With(1, 2)},
		"approval: who asked for the run": {
			of: job.Wait{Approval: &job.Approval{NotByRequester: true}}, began: &runlog.Wait{Kind: runlog.WaitApproval, NotByRequester: true, Min: 1}, minute: 2, by: "carl",
			want: over(finding.StepWaitByRequester, "carl"),
		},
		"approval: rejected":           {of: ofApproval, began: approval(2), end: job.StatusFailed, minute: 2, by: "ann", want: "ran"},
		"signal: rejected":             {of: job.Wait{Signal: "paid"}, began: &runlog.Wait{Kind: runlog.WaitSignal, Signal: "paid"}, end: job.StatusFailed, minute: 2, by: "ann", why: reason.StepRejected.With("ann"), want: over(finding.StepWaitRejected, "ann")},
		"signal: retried, and failed":  {of: job.Wait{Signal: "paid"}, end: job.StatusFailed, minute: 2, by: "ann", why: reason.StepParams.With("gone"), want: "ran " + reason.StepParams.With("gone")},
		"approval: it expired":         {of: ofApproval, began: &runlog.Wait{Kind: runlog.WaitApproval, Min: 2, Expires: at(61)}, end: job.StatusTimedOut, minute: 61, want: "ran"},
		"approval: it expired early":   {of: ofApproval, began: &runlog.Wait{Kind: runlog.WaitApproval, Min: 2, Expires: at(61)}, end: job.StatusTimedOut, minute: 60, want: over(finding.StepWaitEarly, at(61))},
		"approval: its end was early":  {of: ofApproval, began: &runlog.Wait{Kind: runlog.WaitApproval, Min: 2, Expires: at(31)}, end: job.StatusTimedOut, minute: 31, want: over(finding.StepWaitEarly, at(61))},
		"signal: no end expired":       {of: job.Wait{Signal: "paid"}, began: &runlog.Wait{Kind: runlog.WaitSignal, Signal: "paid"}, end: job.StatusTimedOut, minute: 60, want: "discrepancy " + finding.StepWaitEndless.String()},
		"signal: none, and it expired": {of: job.Wait{Signal: "paid", Expires: job.Duration(time.Hour)}, end: job.StatusTimedOut, minute: 61, want: "discrepancy " + finding.StepWaitUnbegun.String()},
		"runs: they are there":         {of: ofRuns, began: awaited, minute: 2, result: met(2, 2, -120, -60), want: "ran"},
		"runs: no evidence":            {of: ofRuns, began: awaited, minute: 2, want: "discrepancy " + finding.StepWaitNoEvidence.String()},
		"runs: one is missing":         {of: ofRuns, began: awaited, minute: 2, result: met(1, 2, -120), want: "discrepancy " + finding.StepWaitFewRuns.With(1, 2)},
		"runs: none is named":          {of: ofRuns, began: awaited, minute: 2, result: met(2, 2), want: "discrepancy " + finding.StepWaitFewRuns.With(2, 2)},
		"runs: one failed":             {of: ofRuns, began: awaited, minute: 2, result: met(2, 2, -120, -90), want: "discrepancy " + finding.StepWaitOtherRun.With(hourly(-90), job.StatusFailed)},
		"runs: one is of another time": {of: ofRuns, began: awaited, minute: 2, result: met(2, 2, -120, 0), want: "discrepancy " + finding.StepWaitOtherRun.With(hourly(0), "not of the awaited fires")},
		"runs: one is not kept":        {of: ofRuns, began: awaited, minute: 2, result: met(2, 2, -120, -30), want: "ran"},
		"runs: the last":               {of: job.Wait{Runs: &job.AwaitedRuns{Job: hour, Last: 1}}, began: last, minute: 2, result: met(1, 1, -60), want: "ran"},
		"runs: the last is its own":    {of: job.Wait{Runs: &job.AwaitedRuns{Job: hour, Last: 1}}, began: last, minute: 2, result: met(1, 1, 0), want: "discrepancy " + finding.StepWaitOtherRun.With(hourly(0), "not of the awaited fires")},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkflowWorld(t, nil, job.Step{Step: workflow.Step{Name: "a"}, Wait: &c.of}, stepAfter("b", "a on always"))
			if c.end == "" {
				c.end = job.StatusSucceeded
			}
			w.wrote(0, job.StatusRunning, func(u *logstore.Update) {
				u.Kind, u.StartedAt, u.By = runlog.KindStarted, noon.Add(time.Second), "carl"
			})
			w.wrote(0, job.StatusPending, func(u *logstore.Update) { u.By = "carl" })
			for minute, s := range map[int]job.Status{-120: job.StatusSucceeded, -60: job.StatusSucceeded, -90: job.StatusFailed, 0: job.StatusSucceeded} {
				w.wrote(minute, s, func(u *logstore.Update) { u.Job, u.RunID = hour, hourly(minute) })
			}
			if c.began != nil {
				began := *c.began
				began.Since = since
				w.stepped("a", job.StatusQueued, func(u *logstore.Update) { u.At, u.Wait = since, &began })
			}
			ended := func(u *logstore.Update) { u.At, u.By, u.Reason = at(c.minute), c.by, c.why }
			w.stepped("a", c.end, ended)
			if c.result != "" {
				w.stepped("a", c.end, ended, returned(c.result), func(u *logstore.Update) { u.FinishedAt, u.Result = at(c.minute), json.RawMessage(c.result) })
			}
			w.stepped("b", job.StatusPending, func(u *logstore.Update) { u.At = at(c.minute) })
			w.stepped("b", job.StatusSucceeded, func(u *logstore.Update) { u.At = at(c.minute + 1) })
			run := job.StatusSucceeded
			if c.end != job.StatusSucceeded {
				run = job.StatusFailed
			}
			w.wrote(0, run, func(u *logstore.Update) { u.At = at(c.minute + 1) })
			_, got := w.steps()
			if d := cmp.Diff([]string{"a " + c.want, "b ran"}, got); d != "" {
				t.Error(d)
			}
		})
	}
}
