package alert

import (
	"context"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// lookClocks finds servers whose clock is out of line, as they say themselves, and a clock of NATS
// that is, as most servers find.
func (s *session) lookClocks(ctx context.Context, r *alerting.Rule, now time.Time) error {
	clocks, err := s.conn.NodeClocks(ctx)
	if err != nil {
		return err
	}
	wrong := map[string]bool{}
	for _, c := range clocks {
		var subject, summary string
		off := offBy(c.Offset)
		switch {
		case c.Wrong:
			subject = "clock of server " + c.Node
			summary = "the clock of server " + c.Node + " is " + off + " NATS' clock, so the server fires nothing; others fire for it"
		case c.NATSWrong:
			subject = "clock of NATS"
			summary = "servers find that the clock of NATS is wrong, and fire by their own: that of server " + c.Node + " is " + off + " it"
		default:
			continue
		}
		wrong[subject] = true
		if err := s.stands(ctx, r, subject, "", now, summary); err != nil {
			return err
		}
	}
	return s.overExcept(ctx, r, wrong, now, "the clock is in line again, or the server is gone")
}

// offBy says in words how far a clock is from another.
func offBy(seconds float64) string {
	apart := time.Duration(seconds * float64(time.Second))
	text := job.Duration(apart.Abs().Round(time.Millisecond)).String()
	if apart < 0 {
		return text + " behind"
	}
	return text + " ahead of"
}

// lookBudgets finds executor groups that are refused because they send too much.
func (s *session) lookBudgets(ctx context.Context, r *alerting.Rule, now time.Time) error {
	refused, err := s.conn.Refusals(ctx)
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
		summary := fmt.Sprintf("executors of group %s send more than their budget: NATS refuses them until %s", f.Group, f.Until.UTC().Format(time.RFC3339))
		if err := s.stands(ctx, r, subject, f.Group, now, summary); err != nil {
			return err
		}
	}
	return s.overExcept(ctx, r, over, now, "its executors may connect again")
}

// overExcept resolves the incidents of a rule about a state of things that is over: all but those
// about the given subjects.
func (s *session) overExcept(ctx context.Context, r *alerting.Rule, still map[string]bool, now time.Time, why string) error {
	done := func(inc *alerting.Incident) bool {
		return inc.Rule == r.Alert && inc.State == alerting.Open && !still[inc.Subject]
	}
	for _, key := range s.mirror.find(done) {
		err := s.update(ctx, key, func(inc *alerting.Incident) *alerting.Incident {
			if inc == nil || !done(inc) {
				return nil
			}
			inc.End(now, why)
			return inc
		})
		if err != nil {
			return err
		}
	}
	return nil
}
