package alert

import (
	"context"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// judge applies the rules to an outcome, unless it repeats one.
func (s *session) judge(ctx context.Context, rules []*alerting.Rule, o *outcome, jobs *jobsView) error {
	if s.ends.has(o) {
		return nil
	}
	for _, r := range rules {
		if !r.When.OfRuns() || o.At.Before(r.Since) || !r.Match.Selects(o.Job, jobs.labelsOf) {
			continue
		}
		t := s.tallyOf(r, o.Job)
		v, summary := judge(r, o, t)
		subject, _ := subjectOf(r, o.Job)
		var err error
		switch v {
		case wrong:
			if o.isOld(s.mirror.incident(keyIncident + alerting.HashOf(r.Alert, subject))) {
				continue
			}
			err = s.found(ctx, o.finding(r, t, summary))
		case good:
			err = s.cured(ctx, r, subject, o)
		case turned:
			err = s.turned(ctx, r, subject, summary, o)
		case neutral:
		}
		if err != nil {
			return err
		}
	}
	s.ends.note(o)
	return nil
}

// tallyOf returns what a rule remembers of a job, nil when it needs to remember nothing.
func (s *session) tallyOf(r *alerting.Rule, name job.Name) *tally {
	if !r.When.Remembers() {
		return nil
	}
	key := r.Alert + "." + name.Group() + "." + name.Short()
	t := s.tallies[key]
	if t == nil {
		t = &tally{Rule: r.Alert, Job: name}
		s.tallies[key] = t
	}
	if t.Seen == nil {
		t.Seen = map[alerting.Source]uint64{}
	}
	return t
}

// subjectOf returns what a rule's incident about a job is about, and whose it is.
func subjectOf(r *alerting.Rule, name job.Name) (subject, group string) {
	switch r.GroupBy {
	case alerting.ByGroup:
		return "group " + name.Group(), name.Group()
	case alerting.ByRule:
		return "alert " + r.Alert, ""
	case alerting.ByJob:
	}
	return "job " + string(name), name.Group()
}
