package alert

import (
	"context"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// take has the rules judge an outcome.
func (s *session) take(ctx context.Context, rules []*alerting.Rule, o *outcome, jobs *jobsView) error {
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

// found opens an incident, or adds to the one that is open.
func (s *session) found(ctx context.Context, f *alerting.Finding) error {
	return s.update(ctx, keyIncident+alerting.HashOf(f.Rule.Alert, f.Subject), func(inc *alerting.Incident) *alerting.Incident {
		if inc != nil && f.Seq != 0 && inc.Seen[f.Source] >= f.Seq {
			return nil // it was read twice
		}
		if inc != nil && inc.State == alerting.Open {
			if !inc.Add(f) {
				return nil
			}
			return inc
		}
		s.log.InfoContext(ctx, "incident opened", "executor_group", f.Group, "alert", f.Rule.Alert, "subject", f.Subject)
		s.metrics.opened.WithLabelValues(string(f.Rule.Severity)).Inc()
		next := alerting.NewIncident(f)
		if inc != nil { // what it has seen of the other source holds on
			for from, seq := range inc.Seen {
				if next.Seen[from] < seq {
					next.MarkSeen(from, seq)
				}
			}
		}
		return next
	})
}

// turned has an incident about a late run be about the run's bad end.
func (s *session) turned(ctx context.Context, r *alerting.Rule, subject string, summary alerting.Sentence, o *outcome) error {
	key := keyIncident + alerting.HashOf(r.Alert, subject)
	if inc := s.mirror.incident(key); inc == nil || !o.turns(inc) {
		return nil
	}
	return s.update(ctx, key, func(inc *alerting.Incident) *alerting.Incident {
		if inc == nil || !o.turns(inc) {
			return nil
		}
		o.turn(inc, summary)
		return inc
	})
}

// cured takes in an outcome after which a job is well again, if an incident says that it
// is not.
func (s *session) cured(ctx context.Context, r *alerting.Rule, subject string, o *outcome) error {
	key := keyIncident + alerting.HashOf(r.Alert, subject)
	late := r.When.StartsWithin > 0 || r.When.EndsWithin > 0
	if inc := s.mirror.incident(key); inc == nil || !o.cures(inc, late) {
		return nil
	}
	return s.update(ctx, key, func(inc *alerting.Incident) *alerting.Incident {
		if inc == nil || !o.cures(inc, late) {
			return nil
		}
		o.cure(inc)
		return inc
	})
}
