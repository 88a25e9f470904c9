package alert

import (
	"context"

	"carillon/job"
)

// take has the rules judge an outcome.
func (s *session) take(ctx context.Context, rules []*Rule, o *outcome, jobs *jobsView) error {
	for _, r := range rules {
		if !r.When.ofRuns() || o.At.Before(r.since) || !r.Match.selects(o.Job, jobs.labelsOf) {
			continue
		}
		v, summary := judge(r, o, s.tallyOf(r, o.Job))
		subject, group := subjectOf(r, o.Job)
		var err error
		switch v {
		case wrong:
			err = s.found(ctx, &finding{
				rule: r, subject: subject, group: group, summary: summary, at: stamp(o.At), source: o.source, seq: o.seq, job: o.affected(),
			})
		case good:
			err = s.cured(ctx, r, subject, o)
		case neutral:
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tallyOf returns what a rule remembers of a job, nil when it needs to remember nothing.
func (s *session) tallyOf(r *Rule, name job.Name) *tally {
	if !r.When.remembers() {
		return nil
	}
	key := keyTally + r.Alert + "." + name.Group() + "." + name.Short()
	t := s.tallies[key]
	if t == nil {
		t = &tally{Rule: r.Alert, Job: name}
		s.tallies[key] = t
	}
	if t.Seen == nil {
		t.Seen = map[source]uint64{}
	}
	return t
}

// subjectOf returns what a rule's incident about a job is about, and whose it is.
func subjectOf(r *Rule, name job.Name) (subject, group string) {
	switch r.GroupBy {
	case ByGroup:
		return "group " + name.Group(), name.Group()
	case ByRule:
		return "alert " + r.Alert, ""
	case ByJob:
	}
	return "job " + string(name), name.Group()
}

// found opens an incident, or adds to the one that is open.
func (s *session) found(ctx context.Context, f *finding) error {
	return s.update(ctx, keyIncident+hashOf(f.rule.Alert, f.subject), func(inc *Incident) *Incident {
		if inc != nil && f.seq != 0 && inc.Seen[f.source] >= f.seq {
			return nil // it was read twice
		}
		if inc != nil && inc.State == Open {
			if !inc.take(f) {
				return nil
			}
			return inc
		}
		s.log.InfoContext(ctx, "incident opened", "alert", f.rule.Alert, "subject", f.subject)
		s.metrics.opened.WithLabelValues(string(f.rule.Severity)).Inc()
		next := open(f)
		if inc != nil { // what it has seen of the other source holds on
			for from, seq := range inc.Seen {
				if next.Seen[from] < seq {
					next.see(from, seq)
				}
			}
		}
		return next
	})
}

// cured takes in an outcome after which a job is well again, if an incident says that it
// is not.
func (s *session) cured(ctx context.Context, r *Rule, subject string, o *outcome) error {
	key := keyIncident + hashOf(r.Alert, subject)
	late := r.When.StartsWithin > 0 || r.When.EndsWithin > 0
	if inc := s.shelf.incident(key); inc == nil || !inc.cures(o, late) {
		return nil
	}
	return s.update(ctx, key, func(inc *Incident) *Incident {
		if inc == nil || !inc.cures(o, late) {
			return nil
		}
		inc.good(o)
		return inc
	})
}
