package alert

import (
	"context"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// lookClocks finds servers whose clock is out of line, as they say themselves, and a clock of NATS
// that is, as most servers find.
func (s *session) lookClocks(ctx context.Context, r *alerting.Rule, now time.Time) error {
	clocks, err := s.conn.Nodes().Clocks(ctx)
	if err != nil {
		return err
	}
	wrong := map[string]bool{}
	for _, c := range clocks {
		subject, summary := clockTrouble(&c)
		if subject == "" {
			continue
		}
		wrong[subject] = true
		if err := s.stands(ctx, r, subject, "", now, summary); err != nil {
			return err
		}
	}
	if err := s.lookInstanceClocks(ctx, r, now, wrong); err != nil {
		return err
	}
	return s.overExcept(ctx, r, wrong, now, alerting.Say("clocks_right"))
}

// maxWrongClocks bounds the incidents about clocks of one group's instances: its credential can write
// any number of heartbeats.
const maxWrongClocks = 10

// lookInstanceClocks finds executors on machines with a wrong clock, by their heartbeats, and adds the
// subjects of their incidents to wrong.
func (s *session) lookInstanceClocks(ctx context.Context, r *alerting.Rule, now time.Time, wrong map[string]bool) error {
	instances, err := s.conn.Instances().List(ctx)
	if err != nil {
		return err
	}
	found := map[string]int{} // by group
	for i := range instances {
		in := &instances[i]
		if in.ClockOffset == 0 || !in.Alive() || !r.Match.SelectsGroup(in.Group) || found[in.Group] == maxWrongClocks {
			continue
		}
		found[in.Group]++
		subject := "clock of instance " + in.Group + "/" + in.Instance
		wrong[subject] = true
		apart := job.Duration(in.ClockOffset.Abs()).String()
		summary := alerting.Say("instance_clock_ahead", "instance", in.Instance, "group", in.Group, "apart", apart)
		if in.ClockOffset < 0 {
			summary = alerting.Say("instance_clock_behind", "instance", in.Instance, "group", in.Group, "apart", apart)
		}
		if err := s.stands(ctx, r, subject, in.Group, now, summary); err != nil {
			return err
		}
	}
	return nil
}

// clockTrouble returns whose clock is out of line, as a server finds, and how; "" when none is.
func clockTrouble(c *cluster.NodeClock) (subject string, summary alerting.Sentence) {
	offset := time.Duration(c.Offset * float64(time.Second))
	apart := job.Duration(offset.Abs().Round(time.Millisecond)).String()
	switch {
	case c.Wrong && offset < 0:
		return "clock of server " + c.Node, alerting.Say("clock_behind", "node", c.Node, "apart", apart)
	case c.Wrong:
		return "clock of server " + c.Node, alerting.Say("clock_ahead", "node", c.Node, "apart", apart)
	case c.NATSWrong && offset < 0:
		return "clock of NATS", alerting.Say("nats_clock_ahead", "node", c.Node, "apart", apart)
	case c.NATSWrong:
		return "clock of NATS", alerting.Say("nats_clock_behind", "node", c.Node, "apart", apart)
	}
	return "", summary
}

// lookBudgets finds executor groups that are refused because they send or keep too much, and those of
// which too many runs wait.
func (s *session) lookBudgets(ctx context.Context, r *alerting.Rule, now time.Time) error {
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

// overExcept resolves the incidents of a rule about a state of things that is over: all but those
// about the given subjects.
func (s *session) overExcept(ctx context.Context, r *alerting.Rule, still map[string]bool, now time.Time, why alerting.Sentence) error {
	done := func(inc *alerting.Incident) bool {
		return inc.Rule == r.Alert && inc.State == alerting.Open && !still[inc.Subject]
	}
	for _, r := range s.mirror.find(done) {
		err := s.update(ctx, r.Key, func(inc *alerting.Incident) *alerting.Incident {
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
