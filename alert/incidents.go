package alert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
)

// incidents opens, changes and resolves incidents while the alerter holds its lease.
type incidents struct {
	*Alerter
	lease   *jet.Lease
	records records
	mirror  *mirror
}

// valid returns an error when the lease is not to be believed in any more.
func (i *incidents) valid() error {
	if !i.lease.Valid(time.Now()) {
		return fmt.Errorf("%w: the alert lease was not renewed in time", job.ErrStale)
	}
	return nil
}

// update changes the incident at a key, as it is stored by now: change gets a copy, nil
// when there is none, and returns what to store, nil for nothing.
func (i *incidents) update(ctx context.Context, key string, change func(*alerting.Incident) *alerting.Incident) error {
	records, at := i.records.ofIncident(key)
	var stored *alerting.Incident
	revision, err := records.Edit(ctx, at, func(value *alerting.Incident, revision uint64) (bool, error) {
		var inc *alerting.Incident
		if revision != 0 {
			was := *value
			inc = &was
		}
		if stored = change(inc); stored == nil {
			return false, nil
		}
		if err := i.valid(); err != nil {
			return false, err
		}
		if inc != nil && inc.ID != stored.ID { // the one before it is kept under its own name
			if _, err := i.records.past.Write(ctx, inc.ID, *inc, 0); err != nil && !errors.Is(err, job.ErrConflict) {
				return false, err
			}
		}
		*value = *stored
		return true, nil
	})
	if err == nil && stored != nil {
		mirror, at := i.mirror.ofIncident(key)
		mirror.Put(at, *stored, revision)
	}
	return err
}

// found opens an incident, or adds to the one that is open.
func (i *incidents) found(ctx context.Context, f *alerting.Finding) error {
	return i.update(ctx, keyIncident+alerting.HashOf(f.Rule.Alert, f.Subject), func(inc *alerting.Incident) *alerting.Incident {
		if inc != nil && f.Seq != 0 && inc.Seen[f.Source] >= f.Seq {
			return nil // it was read twice
		}
		if inc != nil && inc.State == alerting.Open {
			if !inc.Add(f) {
				return nil
			}
			return inc
		}
		i.log.InfoContext(ctx, "incident opened", "executor_group", f.Group, "alert", f.Rule.Alert, "subject", f.Subject)
		i.metrics.opened.WithLabelValues(string(f.Rule.Severity)).Inc()
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

// turned changes an incident about a late run into one about the run's failure.
func (i *incidents) turned(ctx context.Context, r *alerting.Rule, subject string, summary alerting.Sentence, o *outcome) error {
	key := keyIncident + alerting.HashOf(r.Alert, subject)
	if inc := i.mirror.incident(key); inc == nil || !o.turns(inc) {
		return nil
	}
	return i.update(ctx, key, func(inc *alerting.Incident) *alerting.Incident {
		if inc == nil || !o.turns(inc) {
			return nil
		}
		o.turn(inc, summary)
		return inc
	})
}

// cured applies an outcome that ends the trouble of a job, if there is an incident about that.
func (i *incidents) cured(ctx context.Context, r *alerting.Rule, subject string, o *outcome) error {
	key := keyIncident + alerting.HashOf(r.Alert, subject)
	late := r.When.StartsWithin > 0 || r.When.EndsWithin > 0
	if inc := i.mirror.incident(key); inc == nil || !o.cures(inc, late) {
		return nil
	}
	return i.update(ctx, key, func(inc *alerting.Incident) *alerting.Incident {
		if inc == nil || !o.cures(inc, late) {
			return nil
		}
		o.cure(inc)
		return inc
	})
}

// restateEvery is the least time between two changes of an incident whose figures change.
const restateEvery = time.Minute

// stands opens an incident about a state of things, or updates the figures of the one that is open.
func (i *incidents) stands(ctx context.Context, r *alerting.Rule, subject, group string, now time.Time, summary alerting.Sentence) error {
	key := keyIncident + alerting.HashOf(r.Alert, subject)
	if inc := i.mirror.incident(key); inc != nil && inc.State == alerting.Open {
		if next := *inc; now.Sub(inc.UpdatedAt) < restateEvery || !next.Restate(summary, now) {
			return nil
		}
		return i.update(ctx, key, func(inc *alerting.Incident) *alerting.Incident {
			if inc == nil || inc.State != alerting.Open || !inc.Restate(summary, now) {
				return nil
			}
			return inc
		})
	}
	return i.found(ctx, &alerting.Finding{Rule: r, Subject: subject, Group: group, Summary: summary, At: now})
}

// standing opens incidents about the jobs that a state of things concerns, by subject, or changes those whose jobs are
// others by now.
func (i *incidents) standing(ctx context.Context, found map[string]*alerting.Finding) error {
	for _, subject := range slices.Sorted(maps.Keys(found)) {
		f := found[subject]
		if inc := i.mirror.incident(keyIncident + alerting.HashOf(f.Rule.Alert, subject)); inc != nil && inc.State == alerting.Open {
			if next := *inc; !next.Add(f) {
				continue
			}
		}
		if err := i.found(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// over resolves an incident, if there is one.
func (i *incidents) over(ctx context.Context, r *alerting.Rule, subject string, now time.Time, why alerting.Sentence) error {
	key := keyIncident + alerting.HashOf(r.Alert, subject)
	if inc := i.mirror.incident(key); inc == nil || inc.State != alerting.Open {
		return nil
	}
	return i.update(ctx, key, func(inc *alerting.Incident) *alerting.Incident {
		if inc == nil || inc.State != alerting.Open {
			return nil
		}
		inc.End(now, why)
		return inc
	})
}

// closeOrphans resolves the incidents whose rule is gone or disabled.
func (i *incidents) closeOrphans(ctx context.Context, now time.Time) error {
	rules := map[string]bool{}
	for _, r := range i.mirror.active() {
		rules[r.Alert] = true
	}
	open := 0
	orphans := i.mirror.find(func(inc *alerting.Incident) bool {
		if inc.State == alerting.Open {
			open++
		}
		return inc.State == alerting.Open && !rules[inc.Rule]
	})
	i.metrics.open.Set(float64(open))
	for _, orphan := range orphans {
		err := i.update(ctx, orphan.Key, func(inc *alerting.Incident) *alerting.Incident {
			if inc == nil || inc.State != alerting.Open {
				return nil
			}
			inc.End(now, alerting.Say("rule_gone", "rule", inc.Rule))
			return inc
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// remind plans the messages that are to come again.
func (i *incidents) remind(ctx context.Context, now time.Time) error {
	due := func(inc *alerting.Incident) *alerting.Incident {
		if inc == nil {
			return nil
		}
		next := *inc
		next.Deliveries = slices.Clone(inc.Deliveries)
		if !next.Remind(now) {
			return nil
		}
		return &next
	}
	for _, r := range i.mirror.find(func(inc *alerting.Incident) bool { return due(inc) != nil }) {
		if err := i.update(ctx, r.Key, due); err != nil {
			return err
		}
	}
	return nil
}

// overExcept resolves the incidents of a rule about a state of things that is over: all but those
// about the given subjects.
func (i *incidents) overExcept(ctx context.Context, r *alerting.Rule, still map[string]bool, now time.Time, why alerting.Sentence) error {
	done := func(inc *alerting.Incident) bool {
		return inc.Rule == r.Alert && inc.State == alerting.Open && !still[inc.Subject]
	}
	for _, r := range i.mirror.find(done) {
		err := i.update(ctx, r.Key, func(inc *alerting.Incident) *alerting.Incident {
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
