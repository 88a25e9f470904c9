package alert

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/alerting"
	"github.com/carillon-scheduler/carillon/job/clip"
	ledger "github.com/carillon-scheduler/carillon/job/outcome"
)

// discrepancies are what the bucket has of the findings of the ledger.
type discrepancies struct {
	all  map[string]*ledger.Finding // by key
	read bool                       // all that there were at the beginning of the session have come
}

func noDiscrepancies() discrepancies {
	return discrepancies{all: map[string]*ledger.Finding{}}
}

// readFindings hands on what the audit of the ledger has found. All that is kept comes
// again in each session, and then nil; incidents know what they have taken in.
func (s *session) readFindings(ctx context.Context, to chan<- jetstream.KeyValueEntry) error {
	w, err := s.conn.Findings().Watch(ctx)
	if err != nil {
		return fmt.Errorf("follow findings of the ledger: %w", err)
	}
	defer func() { _ = w.Stop() }()
	for e := range w.Updates() {
		select {
		case to <- e:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// handleFinding opens incidents about what the audit of the ledger has found, and resolves an
// incident once all its discrepancies have healed.
func (s *session) handleFinding(ctx context.Context, e jetstream.KeyValueEntry, jobs *jobsView) error {
	d := &s.discrepancies
	if e == nil {
		d.read = true
		return s.settleFindings(ctx, jobs)
	}
	if len(e.Value()) == 0 { // it was kept for long enough
		delete(d.all, e.Key())
		return nil
	}
	f, err := cluster.DecodeFinding(e.Value())
	if err != nil {
		return nil //nolint:nilerr // another version's: the API shows it
	}
	s.metrics.read.WithLabelValues(string(fromLedger)).Inc()
	d.all[e.Key()] = f
	if !f.HealedAt.IsZero() {
		return s.settleFindings(ctx, jobs)
	}
	for _, r := range s.mirror.active() {
		if !r.When.Discrepancy || f.FoundAt.Before(r.Since) || !r.Match.Selects(f.Job, jobs.labelsOf) {
			continue
		}
		subject, group := subjectOf(r, f.Job)
		found := &alerting.Finding{
			Rule: r, Subject: subject, Group: group, At: stamp(f.FoundAt), Source: fromLedger, Seq: e.Revision(),
			Summary: alerting.Say("discrepancy", "job", string(f.Job)),
			Job:     alerting.Affected{Job: f.Job, RunID: f.RunID, At: stamp(f.FoundAt)},
		}
		found.Job.Say(alerting.Say("fire_of", "fire_time", instant(f.FireTime), "reason", clip.Text(string(f.Reason), alerting.MaxMessage)))
		if err := s.found(ctx, found); err != nil {
			return err
		}
	}
	return nil
}

// settleFindings resolves the incidents about discrepancies that have all healed.
func (s *session) settleFindings(ctx context.Context, jobs *jobsView) error {
	if !s.discrepancies.read {
		return nil // one that has not healed may still come
	}
	for _, r := range s.mirror.active() {
		if !r.When.Discrepancy {
			continue
		}
		open, healed := map[string]bool{}, map[string]job.Name{}
		for _, f := range s.discrepancies.all {
			if f.FoundAt.Before(r.Since) || !r.Match.Selects(f.Job, jobs.labelsOf) {
				continue
			}
			subject, _ := subjectOf(r, f.Job)
			if f.HealedAt.IsZero() {
				open[subject] = true
			} else {
				healed[subject] = f.Job
			}
		}
		for _, subject := range slices.Sorted(maps.Keys(healed)) {
			if open[subject] {
				continue
			}
			if err := s.over(ctx, r, subject, stamp(time.Now()), alerting.Say("ledger_healed")); err != nil {
				return err
			}
		}
	}
	return nil
}
