package alert

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// judgedWithin is how old the list of jobs that miss their targets may be. An older list means that
// the log store is away: then incidents stay as they are.
const judgedWithin = 30 * time.Minute

// checkTargets alerts on jobs that miss their targets. The process that has the log store has listed
// them. All jobs of one subject are one finding: it changes the incident only if the jobs have changed.
func (s *session) checkTargets(ctx context.Context, r *alerting.Rule, now time.Time, jobs *jobsView) error {
	missed, err := s.conn.Targets().Missed(ctx)
	if errors.Is(err, job.ErrNotFound) || err == nil && now.Sub(missed.At) > judgedWithin {
		return nil
	}
	if err != nil {
		return err
	}
	found, still := map[string]*alerting.Finding{}, map[string]bool{}
	for i := range missed.Jobs {
		m := &missed.Jobs[i]
		if !r.Match.Selects(m.Job, jobs.labelsOf) {
			continue
		}
		subject, group := subjectOf(r, m.Job)
		f := found[subject]
		if f == nil {
			f = &alerting.Finding{Rule: r, Subject: subject, Group: group, At: now, More: missed.More}
			found[subject], still[subject] = f, true
		}
		a := alerting.Affected{Job: m.Job, At: now}
		a.Say(missedOf(m))
		f.Jobs = append(f.Jobs, a)
	}
	if err := s.standing(ctx, found); err != nil {
		return err
	}
	if missed.More { // a job that is not among them may miss its target all the same
		return nil
	}
	return s.overExcept(ctx, r, still, now, alerting.Say("target_met"))
}

// missedOf says which part of its target a job misses.
func missedOf(m *cluster.MissedTarget) alerting.Sentence {
	if m.Budget < 0 {
		return alerting.Say("target_rate_missed", "job", string(m.Job), "failures", strconv.Itoa(m.Failures), "runs", strconv.Itoa(m.Runs),
			"target", strconv.FormatFloat(m.SuccessRate, 'f', -1, 64), "allowed", strconv.Itoa(m.Failures+m.Budget))
	}
	return alerting.Say("target_delay_missed", "job", string(m.Job), "delay", m.StartDelay.String(), "target", m.Verdict.StartDelay.String())
}
