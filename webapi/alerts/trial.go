package alerts

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/alert"
	"github.com/carillon-scheduler/carillon/api"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// What the contract states of a rule that is tried.
const (
	trialSpan     = 7 * 24 * time.Hour
	mostTrialRuns = 20_000
	mostTrialled  = 50
)

// Try returns the incidents that a rule would have opened in the last days.
func (a *Alerts) Try(ctx context.Context, rule alerting.Rule) (api.AlertTrial, error) {
	rule = rule.WithDefaults()
	if _, err := alert.Try(rule, nil, nil); err != nil {
		return api.AlertTrial{}, err
	}
	to := time.Now().UTC().Truncate(time.Millisecond)
	ran, from, err := a.ranBefore(ctx, &rule.Match, to)
	if err != nil {
		return api.AlertTrial{}, err
	}
	labels := map[job.Name]job.Labels{}
	if len(rule.Match.Labels) > 0 {
		if labels, err = a.labelsOf(ctx, ran); err != nil {
			return api.AlertTrial{}, err
		}
	}
	found, err := alert.Try(rule, ran, func(name job.Name) job.Labels { return labels[name] })
	if err != nil {
		return api.AlertTrial{}, err
	}
	trial := api.AlertTrial{From: from, To: to, Runs: len(ran), Total: len(found)}
	slices.Reverse(found)
	trial.Items = make([]api.AlertTrialItem, 0, mostTrialled)
	for _, inc := range found[:min(len(found), mostTrialled)] {
		item := api.AlertTrialItem{
			Subject: inc.Subject, Summary: inc.Summary, SummaryCode: inc.SummaryCode, SummaryParams: inc.SummaryParams,
			Count: inc.Count, OpenedAt: inc.OpenedAt, ResolvedAt: inc.ResolvedAt,
		}
		trial.Items = append(trial.Items, item)
	}
	return trial, nil
}

// ranBefore returns the newest runs that have ended of jobs that may match, and since when
// there are all of them.
func (a *Alerts) ranBefore(ctx context.Context, m *alerting.Match, to time.Time) ([]alert.Ran, time.Time, error) {
	filter := logstore.RunFilter{From: to.Add(-trialSpan), To: to, Jobs: m.Jobs, Groups: m.Groups, Causes: job.CountedCauses, Limit: logstore.MaxRuns}
	from := filter.From
	var ran []alert.Ran
	for {
		page, err := a.store.Runs(ctx, filter)
		if err != nil {
			return nil, from, problem.StoreAway(err)
		}
		for i := range page.Runs {
			if run := &page.Runs[i]; run.RunStatus().Final() {
				ran = append(ran, ranOf(run))
			}
		}
		if page.Next == "" {
			return ran, from, nil
		}
		if filter.Cursor = page.Next; len(ran) >= mostTrialRuns {
			return ran, ran[len(ran)-1].FireTime, nil
		}
	}
}

func ranOf(r *runlog.Run) alert.Ran {
	message := r.Message
	if message == "" {
		message = r.Reason
	}
	return alert.Ran{
		RunID: r.RunID, Job: r.Job, Status: r.Status, Message: string(message),
		Unasked:  r.Cause == job.CausePing && reason.Read(string(r.Reason)).Code == reason.Unasked.Code,
		FireTime: r.FireTime, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt,
	}
}

// labelsOf returns what the jobs of runs ask of their instances.
func (a *Alerts) labelsOf(ctx context.Context, ran []alert.Ran) (map[job.Name]job.Labels, error) {
	labels := map[job.Name]job.Labels{}
	for i := range ran {
		name := ran[i].Job
		if _, known := labels[name]; known {
			continue
		}
		entry, err := a.conn.Jobs().Get(ctx, name)
		switch {
		case err == nil:
			labels[name] = entry.Labels
		case errors.Is(err, job.ErrNotFound):
			labels[name] = nil // it has been deleted
		default:
			return nil, err
		}
	}
	return labels, nil
}
