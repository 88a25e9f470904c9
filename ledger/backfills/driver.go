package backfills

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job/backfill"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
)

// How a driver looks.
const (
	// lookEvery is the pause between two looks at backfills that have not ended, idleEvery if there are none.
	lookEvery = time.Second
	idleEvery = 5 * time.Second
	// roundLasts is after how long a round ends.
	roundLasts = time.Minute
	// partsAtOnce is how many jobs of a backfill are looked at together.
	partsAtOnce = 8
	// askTimeout is how long the owner of a job may take to answer.
	askTimeout = 2 * time.Second
	// postponed is how long a job rests after something about it failed.
	postponed = 10 * time.Second
	// knownFor is how long an owner surely knows a backfill, even one that ended soon after it was asked for.
	knownFor = journal.BackfillShown - time.Hour
)

// Driver carries out backfills of many jobs. It is not safe for concurrent use.
type Driver struct {
	conn   *cluster.Conn
	ledger *ledger.Ledger
	log    *slog.Logger
	rests  map[partRound]time.Time // until when
}

// partRound is a round of one job of a backfill.
type partRound struct {
	id    string
	part  int
	round int
}

// New returns a driver. conn must be open, and l must know the history of the whole cluster.
func New(conn *cluster.Conn, l *ledger.Ledger, log *slog.Logger) *Driver {
	return &Driver{conn: conn, ledger: l, log: log, rests: map[partRound]time.Time{}}
}

// Round looks again and again for a minute.
func (d *Driver) Round(ctx context.Context) error {
	var err error
	for ends := time.Now().Add(roundLasts); err == nil && ctx.Err() == nil && time.Now().Before(ends); {
		var open int
		pause := lookEvery
		if open, err = d.Look(ctx); open == 0 {
			pause = idleEvery
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
		case <-timer.C:
		}
	}
	return err
}

// Look takes all backfills as far as they can go at once, and returns how many have not ended. The error is about the
// bus; what fails about a single job is logged, and tried again.
func (d *Driver) Look(ctx context.Context) (open int, err error) {
	all, err := cluster.BackfillsOf(d.conn).All(ctx)
	if err != nil {
		return 0, err
	}
	now := time.Now()
	for key, until := range d.rests {
		if until.Before(now) {
			delete(d.rests, key)
		}
	}
	for i := range all {
		if !all[i].EndedAt.IsZero() {
			continue
		}
		open++
		err = cmp.Or(err, d.advance(ctx, all[i].ID))
	}
	return open, err
}

// advance begins the jobs of a backfill whose turn it is, and takes in those that have ended.
func (d *Driver) advance(ctx context.Context, id string) error {
	b, err := cluster.BackfillsOf(d.conn).Edit(ctx, id, func(b *backfill.Bulk) (bool, error) { return b.Begin(instant()), nil })
	if err != nil {
		return fmt.Errorf("begin jobs of backfill %s: %w", id, err)
	}
	ends := make([]*end, len(b.Jobs))
	var g errgroup.Group
	g.SetLimit(partsAtOnce)
	for i := range b.Jobs {
		key := partRound{id, i, b.Jobs[i].Round}
		if _, rests := d.rests[key]; rests || !b.Jobs[i].AtWork() {
			continue
		}
		g.Go(func() error {
			var err error
			if ends[i], err = (part{d, b, &b.Jobs[i]}).look(ctx); err != nil && ctx.Err() == nil {
				ends[i] = &end{failed: err}
			}
			return nil
		})
	}
	_ = g.Wait() // each has its own error
	changed := false
	for i, e := range ends {
		if e != nil && e.failed != nil {
			d.rests[partRound{id, i, b.Jobs[i].Round}] = time.Now().Add(postponed)
			d.log.WarnContext(ctx, "job of a backfill postponed", "backfill", id, "job", b.Jobs[i].Job, "error", e.failed)
			ends[i] = nil
		}
		changed = changed || ends[i] != nil
	}
	if !changed {
		return nil
	}
	if _, err := cluster.BackfillsOf(d.conn).Edit(ctx, id, func(now *backfill.Bulk) (bool, error) { return enter(now, b, ends), nil }); err != nil {
		return fmt.Errorf("take in what jobs of backfill %s have run: %w", id, err)
	}
	return nil
}

// enter takes in what was found out about parts of b, those left out that have gone on since. It reports whether there
// were any.
func enter(now, b *backfill.Bulk, ends []*end) (changed bool) {
	for i, e := range ends {
		p := &now.Jobs[i]
		switch {
		case e == nil || !p.AtWork() || p.Round != b.Jobs[i].Round:
			continue
		case e.refused != "":
			now.Refuse(i, e.refused, instant())
		default:
			now.Settle(i, e.made, e.stopped, instant())
		}
		changed = true
	}
	return changed
}

// instant returns the time as documents have it.
func instant() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
