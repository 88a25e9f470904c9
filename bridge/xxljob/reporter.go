package xxljob

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// What could not be stored is tried again after a wait that doubles between these.
const (
	storeWaitMin = 250 * time.Millisecond
	storeWaitMax = 5 * time.Second
)

// reporter stores what an instance has to tell of its runs, until NATS has taken it. Its methods may be called concurrently.
type reporter struct {
	b    *Bridge
	log  logger
	ends *jet.Packer
}

func newReporter(b *Bridge, instance string, log logger) *reporter {
	r := &reporter{b: b, log: log}
	r.ends = jet.NewPacker(instance, b.conn.NC.MaxPayload, r.publishEnds)
	return r
}

// storeEnd stores the end of a run, alone or with others that end at the same time. It gives up only when
// ctx is done, or NATS takes no message of that size.
func (r *reporter) storeEnd(ctx context.Context, to string, end *bus.End) error {
	stored := make(chan error, 1)
	r.b.work.Go(func() error { // it may go on with the ends of others
		r.ends.Store(ctx, to, end, func(err error) { stored <- err })
		return nil
	})
	return <-stored
}

// publishEnds publishes a message with ends until it is stored.
func (r *reporter) publishEnds(ctx context.Context, m *nats.Msg, _ []*bus.End) error {
	var tooLarge error
	err := r.untilStored(ctx, func() error {
		err := r.publish(ctx, m)
		if errors.Is(err, nats.ErrMaxPayload) {
			tooLarge, err = err, nil
		}
		return err
	})
	return errors.Join(err, tooLarge)
}

func (r *reporter) publish(ctx context.Context, m *nats.Msg) error {
	_, err := r.b.js.PublishMsg(ctx, m)
	return err
}

// untilStored calls store until it has worked, or ctx is done, or the instance is another bridge's.
func (r *reporter) untilStored(ctx context.Context, store func() error) error {
	again := pause.Backoff{Least: storeWaitMin, Most: storeWaitMax}
	for try := uint(1); ; try++ {
		err := store()
		if err == nil || ctx.Err() != nil || errors.Is(err, job.ErrConflict) {
			return err
		}
		r.log.WarnContext(ctx, "not stored by NATS, tried again", "tries", try, "error", err)
		if err := again.Wait(ctx); err != nil {
			return err
		}
	}
}
