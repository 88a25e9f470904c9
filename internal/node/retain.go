package node

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// trimEvery is how often history beyond its age is deleted. It goes by whole days.
const trimEvery = time.Hour

// followAgain is how long it takes to try again to hear of changes.
const followAgain = 5 * time.Second

// keepLines has the store keep new lines as people have said. What cannot be read now
// retain hears of.
func (c nodeConfig) keepLines(ctx context.Context, conn *cluster.Conn, store logstore.Store, log *slog.Logger) {
	store.SetRetention(logstore.DefaultRetention())
	entry, err := conn.Retention().Get(ctx, logstore.DefaultRetention())
	if err != nil {
		log.WarnContext(ctx, "retention not read", "error", err)
		return
	}
	store.SetRetention(entry.Retention)
}

// retain deletes history beyond its age, every hour and whenever somebody changes the
// retention rules, until ctx is done.
func (c nodeConfig) retain(ctx context.Context, conn *cluster.Conn, store logstore.Store, log *slog.Logger) error {
	changed := make(chan struct{}, 1)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		c.follow(ctx, conn, log, func(r job.Retention) {
			store.SetRetention(r)
			select {
			case changed <- struct{}{}:
			default: // it will be read again anyway
			}
		})
		return nil
	})
	g.Go(func() error {
		return keep(ctx, "retention", trimEvery, changed, func() {
			trimmed, err := c.trim(ctx, conn, store, time.Now())
			if err != nil && ctx.Err() == nil {
				log.WarnContext(ctx, "history not trimmed", "error", err)
			} else if trimmed.Runs+trimmed.Lines+trimmed.Facts > 0 {
				log.InfoContext(ctx, "history trimmed", "runs", trimmed.Runs, "lines", trimmed.Lines, "facts", trimmed.Facts)
			}
		})
	})
	return g.Wait()
}

// follow calls f whenever people say how long history is kept, until ctx is done.
func (c nodeConfig) follow(ctx context.Context, conn *cluster.Conn, log *slog.Logger, f func(job.Retention)) {
	again := time.NewTicker(followAgain)
	defer again.Stop()
	for ctx.Err() == nil {
		err := conn.Retention().Follow(ctx, func(e *cluster.RetentionEntry, err error) {
			if err != nil {
				log.WarnContext(ctx, "retention not read", "error", err)
				return
			}
			f(e.Retention)
		})
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "retention not followed", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
}

// clockAhead is by how much a server's clock may be ahead of that of NATS when it deletes
// history: what a clock that was set to another year deletes is gone.
const clockAhead = 10 * time.Minute

// trim deletes what is too old at an instant, on one server of a cluster at a time. It does
// nothing when it is not known how long history is kept, and when the clock that told the
// instant is ahead.
func (c nodeConfig) trim(ctx context.Context, conn *cluster.Conn, store logstore.Store, now time.Time) (logstore.Trimmed, error) {
	unlock, err := lockRole(ctx, conn, roleRetention, c.node)
	if err != nil {
		return logstore.Trimmed{}, err
	}
	defer unlock()
	entry, err := conn.Retention().Get(ctx, logstore.DefaultRetention())
	if err != nil {
		return logstore.Trimmed{}, err
	}
	at, err := conn.ServerTime(ctx)
	if err != nil {
		return logstore.Trimmed{}, err
	}
	if ahead := now.Sub(at); ahead > clockAhead {
		return logstore.Trimmed{}, fmt.Errorf("%w: this server's clock is %s ahead of that of NATS; it deletes nothing until they agree", job.ErrConflict, ahead.Round(time.Second))
	}
	return store.Trim(ctx, now, entry.Retention)
}
