package alert

import (
	"context"
	"errors"
	"time"

	"github.com/carillon-scheduler/carillon/job/alerting"
)

// check is a kind of rule that finds what does not come as a message.
type check struct {
	applies func(*alerting.Condition) bool
	run     func(s *session, ctx context.Context, r *alerting.Rule, now time.Time, jobs *jobsView) error
}

// checks are the kinds of rules that tick checks. At most one applies to a rule.
var checks = []check{
	{ofLateRuns, (*session).checkLate},
	{func(c *alerting.Condition) bool { return c.NoExecutor > 0 }, (*session).checkExecutors},
	{func(c *alerting.Condition) bool { return c.StreamFull > 0 }, (*session).checkStreams},
	{func(c *alerting.Condition) bool { return c.StoreFull > 0 }, (*session).checkStore},
	{func(c *alerting.Condition) bool { return c.ShardsParked }, (*session).checkParked},
	{func(c *alerting.Condition) bool { return c.ClockWrong }, (*session).checkClocks},
	{func(c *alerting.Condition) bool { return c.OverBudget }, (*session).checkBudgets},
	{func(c *alerting.Condition) bool { return c.TargetMissed }, (*session).checkTargets},
	{func(c *alerting.Condition) bool { return c.NeverHeard > 0 }, (*session).checkHeard},
}

// tick finds what does not come as a message: what the checks find, dead letters, incidents whose rule is
// gone, reminders.
func (s *session) tick(ctx context.Context, jobs *jobsView) error {
	now := stamp(time.Now())
	var errs []error
	late := false
	for _, r := range s.mirror.active() {
		late = late || ofLateRuns(&r.When)
		for _, c := range checks {
			if c.applies(&r.When) {
				errs = append(errs, c.run(s, ctx, r, now, jobs))
			}
		}
	}
	errs = append(errs, s.passEvents(ctx), s.checkDeadLetters(ctx), s.closeOrphans(ctx, now), s.remind(ctx, now))
	for _, err := range errs {
		if err = ignoreAway(err); err != nil {
			return err
		}
	}
	if errors.Join(errs...) == nil && late {
		s.position.LateChecked, s.moved = now, true
	}
	return nil
}

// instant writes an instant as the parameter of a sentence.
func instant(at time.Time) string { return at.UTC().Format(time.RFC3339) }
