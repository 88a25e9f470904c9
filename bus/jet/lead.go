package jet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// releasing is how long a process that ends tries to give a lease back.
const releasing = time.Second

// Lead calls do whenever this process gets the lease on key for node. So only one
// process works at a time; the others wait for the lease. It returns when ctx is done.
//
// The context of do ends with ctx, or when the lease is lost, with job.ErrStale among its
// causes. do may return before that, with an error if it cannot go on: then the lease is
// given back, and the next holder starts from the beginning. log gets a line at each
// change of holder.
func (c *Conn) Lead(ctx context.Context, key, node string, log *slog.Logger, do func(ctx context.Context, lease *Lease) error) {
	hold(ctx, c, key, node, nil, log, do)
}

// Announce keeps the lease on key for node, with info about it, until ctx is done.
func Announce(ctx context.Context, c *Conn, key, node string, info any, log *slog.Logger) {
	hold(ctx, c, key, node, info, log, func(ctx context.Context, _ *Lease) error {
		<-ctx.Done()
		return nil
	})
}

func hold(ctx context.Context, c *Conn, key, node string, info any, log *slog.Logger, do func(ctx context.Context, lease *Lease) error) {
	log = log.With("lease", key, "node", node)
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rest.C:
		}
		lease, err := c.AcquireLease(ctx, key, node, info)
		switch {
		case err == nil:
			log.InfoContext(ctx, "lease acquired", "epoch", lease.Epoch)
			lease.lead(ctx, log, do)
		case !errors.Is(err, job.ErrConflict) && ctx.Err() == nil:
			log.WarnContext(ctx, "lease not acquired", "error", err)
		}
		rest.Reset(LeaseRenew)
	}
}

func (l *Lease) lead(ctx context.Context, log *slog.Logger, do func(ctx context.Context, lease *Lease) error) {
	working, stop := context.WithCancelCause(ctx)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		stop(l.keep(working))
	}()
	err := do(working, l)
	stop(nil)
	<-kept
	if ctx.Err() == nil {
		log.WarnContext(ctx, "lease given up", "reason", errors.Join(err, context.Cause(working)))
	}
	// The stop of this process must not make the next one wait for the lease's end.
	last, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), releasing, errors.New("release of the lease takes too long"))
	defer cancel()
	if err := l.Release(last); err != nil {
		log.WarnContext(ctx, "lease not released", "error", err)
	}
}

// keep renews the lease until ctx is done, and returns an error when it is lost.
func (l *Lease) keep(ctx context.Context) error {
	tick := time.NewTicker(LeaseRenew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		asking, cancel := context.WithDeadline(ctx, l.Until())
		err := l.Renew(asking)
		cancel()
		switch {
		case errors.Is(err, job.ErrStale):
			return err
		case !l.Valid(time.Now()):
			return fmt.Errorf("%w: lease %s was not renewed in time", job.ErrStale, l.key)
		}
	}
}
