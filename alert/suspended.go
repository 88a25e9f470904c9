package alert

import (
	"context"
	"strconv"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// lookSuspended finds instances that are suspended, those of an executor group together.
func (s *session) lookSuspended(ctx context.Context, r *alerting.Rule, now time.Time) error {
	list, err := s.conn.Suspensions(ctx, now)
	if err != nil {
		return err
	}
	groups := map[string][]bus.Suspension{}
	for _, one := range list {
		if r.Match.SelectsGroup(one.Group) {
			groups[one.Group] = append(groups[one.Group], one)
		}
	}
	for _, group := range sortedKeys(groups) {
		if err := s.stands(ctx, r, suspendedOf(group), group, now, summaryOf(group, groups[group])); err != nil {
			return err
		}
	}
	open := s.mirror.find(func(inc *alerting.Incident) bool { return inc.State == alerting.Open && inc.Rule == r.Alert })
	for _, key := range open {
		inc := s.mirror.incident(key)
		if inc == nil || len(groups[inc.Group]) > 0 {
			continue
		}
		if err := s.over(ctx, r, suspendedOf(inc.Group), now, alerting.Say("none_suspended", "group", inc.Group)); err != nil {
			return err
		}
	}
	return nil
}

func suspendedOf(group string) string { return "suspended instances of group " + group }

// summaryOf says which instances of a group are suspended.
func summaryOf(group string, list []bus.Suspension) alerting.Sentence {
	first, others := list[0], ""
	if more := len(list) - 1; more > 0 {
		others = strconv.Itoa(more)
	}
	if first.Instance == "" {
		return alerting.Say("some_instance_suspended", "group", group, "reason", first.Reason, "until", instant(first.Until), "others", others)
	}
	return alerting.Say("instance_suspended", "instance", first.Instance, "group", group, "reason", first.Reason, "until", instant(first.Until), "others", others)
}
