package alert

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
)

// approval is that a step begins to wait for approval, or the end of a step, which ends such a wait.
type approval struct {
	source alerting.Source
	seq    uint64
	job    job.Name
	run    job.RunID // of the workflow
	step   string
	wait   *runlog.Wait // nil: the step has ended
	status job.Status
	reason string
	at     time.Time
}

// approvalsIn returns the approvals that a notice is about.
func approvalsIn(r *journal.Record, stream string, seq uint64) (list []approval, err error) {
	line := uint64(0)
	err = r.Each(func(d journal.Decided) {
		line++
		begins := d.Status == job.StatusQueued && d.Wait != nil && d.Wait.Kind == runlog.WaitApproval
		if d.Step == "" || !begins && !d.Status.Final() {
			return
		}
		a := approval{
			source: sourceOf(fromNotices, stream), seq: seq*maxLines + line, job: d.Job, run: d.Parent, step: d.Step,
			status: d.Status, reason: clip.Text(d.Reason, alerting.MaxMessage), at: r.At,
		}
		if begins {
			a.wait = d.Wait
		}
		list = append(list, a)
	})
	return list, err
}

// judgeApprovals applies the rules about approvals to a notice.
func (s *session) judgeApprovals(ctx context.Context, rules []*alerting.Rule, r *journal.Record, stream string, seq uint64, jobs *jobsView) error {
	rules = slices.DeleteFunc(slices.Clone(rules), func(r *alerting.Rule) bool { return !r.When.ApprovalWanted })
	if len(rules) == 0 {
		return nil
	}
	list, err := approvalsIn(r, stream, seq)
	if err != nil {
		return err
	}
	for i := range list {
		if err := s.judgeApproval(ctx, rules, &list[i], jobs); err != nil {
			return err
		}
	}
	return nil
}

// judgeApproval applies the rules about approvals. Each approval has an incident of its own, whatever the rule groups by:
// a further one is never part of an incident that somebody has read already.
func (s *session) judgeApproval(ctx context.Context, rules []*alerting.Rule, a *approval, jobs *jobsView) error {
	subject := "step " + a.step + " of run " + string(a.run)
	for _, r := range rules {
		if a.wait == nil {
			if err := s.over(ctx, r, subject, stamp(a.at), a.over()); err != nil {
				return err
			}
			continue
		}
		if a.at.Before(r.Since) || len(a.wait.Approvals) > 0 || !r.Match.Selects(a.job, jobs.labelsOf) {
			continue
		}
		about := alerting.Affected{Job: a.job, RunID: a.run, Status: job.StatusQueued, Message: a.reason, At: a.at}
		err := s.found(ctx, &alerting.Finding{
			Rule: r, Subject: subject, Group: a.job.Group(), Summary: a.wanted(), At: stamp(a.at), Source: a.source, Seq: a.seq, Job: about,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wanted says whose approval a step waits for.
func (a *approval) wanted() alerting.Sentence {
	until := ""
	if !a.wait.Expires.IsZero() {
		until = instant(a.wait.Expires)
	}
	return alerting.Say("approval_wanted", "job", string(a.job), "step", a.step, "by", strings.Join(a.wait.By, ", "), "until", until)
}

// over says how the wait ended.
func (a *approval) over() alerting.Sentence {
	return alerting.Say("approval_over", "step", a.step, "status", string(a.status), "reason", a.reason)
}

// awaited returns the run and the step whose approval an open incident waits for.
func awaited(inc *alerting.Incident) (run job.RunID, step string) {
	if inc.SummaryCode != "approval_wanted" {
		return "", ""
	}
	i := slices.IndexFunc(inc.Jobs, func(j alerting.Affected) bool { return j.RunID != "" })
	if i < 0 {
		return "", ""
	}
	return inc.Jobs[i].RunID, inc.SummaryParams["step"]
}
