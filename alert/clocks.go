package alert

import (
	"context"
	"time"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// checkClocks finds servers whose clock is out of line, as they say themselves, and a clock of NATS
// that is, as most servers find.
func (s *session) checkClocks(ctx context.Context, r *alerting.Rule, now time.Time, _ *jobsView) error {
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
	if err := s.checkInstanceClocks(ctx, r, now, wrong); err != nil {
		return err
	}
	return s.overExcept(ctx, r, wrong, now, alerting.Say("clocks_right"))
}

// maxWrongClocks bounds the incidents about clocks of one group's instances: its credential can write
// any number of heartbeats.
const maxWrongClocks = 10

// checkInstanceClocks finds executors on machines with a wrong clock, by their heartbeats, and adds the
// subjects of their incidents to wrong.
func (s *session) checkInstanceClocks(ctx context.Context, r *alerting.Rule, now time.Time, wrong map[string]bool) error {
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
