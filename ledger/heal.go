package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/logstore"
)

// recheck judges the fires again of which a discrepancy was found: what was missing may have
// come since. Those that are all right now are marked as healed; the others are counted.
func (p *Patrol) recheck(ctx context.Context, at *position) error {
	found, err := p.conn.Findings().All(ctx)
	if err != nil {
		return err
	}
	open := 0
	for i := range found {
		f := &found[i]
		if !f.HealedAt.IsZero() {
			continue
		}
		why, err := p.ledger.healed(ctx, at, f)
		if err != nil {
			return fmt.Errorf("judge the discrepancy of run %s again: %w", f.RunID, err)
		}
		if why == "" {
			open++
			continue
		}
		f.Healed, f.HealedAt = reason.Text(why), time.Now().UTC().Truncate(time.Millisecond)
		if err := p.conn.Findings().Heal(ctx, f); err != nil {
			return err
		}
		p.log.InfoContext(ctx, "discrepancy in the ledger has healed", "job", f.Job, "fire_time", f.FireTime, "run_id", f.RunID, "reason", why)
	}
	p.metrics.open.Set(float64(open))
	return nil
}

// healed returns why a discrepancy that was found is none any more, or nothing while it is one,
// or while that cannot be told.
func (l *Ledger) healed(ctx context.Context, at *position, f *outcome.Finding) (string, error) {
	v, err := l.evidence(ctx, at, f.Job)
	if errors.Is(err, job.ErrNotFound) {
		return "", nil // no version of it is kept any more
	}
	if err != nil {
		return "", err
	}
	why, bad := "", false
	_, err = v.Judge(ctx, f.FireTime, f.FireTime.Add(time.Millisecond), func(e *outcome.Entry) bool {
		bad = bad || e.Outcome == outcome.Discrepancy
		if e.RunID == f.RunID && e.Outcome != outcome.Discrepancy && e.Outcome != outcome.Unjudged && e.Outcome != outcome.Undecided {
			why = finding.RecordedNow.With(e.Outcome)
		}
		return true
	})
	switch {
	case err != nil || bad:
		return "", err
	case why != "":
		return why, nil
	}
	return v.firesAgain(ctx, f)
}

// firesAgain tells of a fixed-delay job that had fallen silent: its next fire depends on when
// the run before ended, so it is seldom the one that was found missing.
func (v Evidence) firesAgain(ctx context.Context, f *outcome.Finding) (string, error) {
	for _, e := range v.Versions {
		if e.Version.Version != f.Version || e.Schedule.Kind() != job.KindFixedDelay {
			continue
		}
		last, err := v.newest(ctx, logstore.RunFilter{From: f.FireTime})
		if err != nil || last == nil {
			return "", err
		}
		return finding.FiresAgain.String(), nil
	}
	return "", nil
}
