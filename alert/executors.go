package alert

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// checkExecutors finds groups that have jobs, and no instance to run them.
func (s *session) checkExecutors(ctx context.Context, r *alerting.Rule, now time.Time, jobs *jobsView) error {
	instances, err := s.conn.Instances().List(ctx)
	if err != nil {
		return err
	}
	manned := map[string]bool{}
	for i := range instances {
		if instances[i].State == fleet.InstanceOnline || instances[i].State == fleet.InstanceIncompatible {
			manned[instances[i].Group] = true
		}
	}
	var pauses map[string]job.Pause // read once a group has nobody, which is rare
	for _, group := range jobs.groups() {
		if !r.Match.SelectsGroup(group) {
			continue
		}
		if manned[group] {
			delete(s.lonely, group)
			if err := s.over(ctx, r, "group "+group, now, alerting.Say("executor_back", "group", group)); err != nil {
				return err
			}
			continue
		}
		if pauses == nil {
			if pauses, err = s.conn.Pauses().OfGroups(ctx); err != nil {
				return err
			}
		}
		if pauses[group].At(now).Paused { // it needs nobody
			delete(s.lonely, group)
			continue
		}
		since, known := s.lonely[group]
		if !known {
			s.lonely[group], since = now, now
		}
		if now.Sub(since) >= r.When.NoExecutor.Std() {
			if err := s.stands(ctx, r, "group "+group, group, now, alerting.Say("no_executor", "group", group)); err != nil {
				return err
			}
		}
	}
	return nil
}
