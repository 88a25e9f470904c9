package alert

import (
	"context"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/job/alerting"
)

// checkBudgets finds executor groups that are refused because they send or keep too much, and those of
// which too many runs wait.
func (s *session) checkBudgets(ctx context.Context, r *alerting.Rule, now time.Time, _ *jobsView) error {
	refused, err := s.conn.Refusals().All(ctx)
	if err != nil {
		return err
	}
	over := map[string]bool{}
	for _, f := range refused {
		if !now.Before(f.Until) || !r.Match.SelectsGroup(f.Group) {
			continue
		}
		subject := "group " + f.Group
		over[subject] = true
		summary := alerting.Say("over_budget", "group", f.Group, "until", instant(f.Until))
		switch k := f.Kept; {
		case f.GaveBack > 0:
			summary = alerting.Say("gives_back_too_fast", "group", f.Group, "times", strconv.Itoa(f.GaveBack), "until", instant(f.Until))
		case k != nil:
			summary = alerting.Say("keeps_too_much", "group", f.Group, "bucket", k.Bucket, "keys", strconv.FormatUint(k.Keys, 10), "max", strconv.Itoa(k.MaxKeys), "until", instant(f.Until))
		}
		if err := s.stands(ctx, r, subject, f.Group, now, summary); err != nil {
			return err
		}
	}
	full, err := s.conn.Refusals().FullGroups(ctx)
	if err != nil {
		return err
	}
	for _, f := range full {
		subject := "group " + f.Group
		if !now.Before(f.Until) || !r.Match.SelectsGroup(f.Group) || over[subject] {
			continue
		}
		over[subject] = true
		summary := alerting.Say("too_many_wait", "group", f.Group, "runs", strconv.Itoa(f.Runs), "megabytes", strconv.FormatInt(f.Bytes/1e6, 10))
		if err := s.stands(ctx, r, subject, f.Group, now, summary); err != nil {
			return err
		}
	}
	return s.overExcept(ctx, r, over, now, alerting.Say("all_well"))
}
