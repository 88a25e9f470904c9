package dispatch

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// deliveries is how often a trigger has been delivered, this time included. If it was in a pack before, that
// counts as its first delivery.
type deliveries struct {
	delivery int
	pack     packed
}

// packed is what is known of the pack in which a trigger was before.
type packed struct {
	seq  uint64 // where it was on the stream; 0: there was none
	back bool   // all who got it gave it back
	off  bool   // it was removed from the stream before the last look
}

func packOf(header nats.Header) packed {
	return packed{seq: bus.PackOf(header), back: header.Get(bus.HeaderPackBack) != ""}
}

// takeApart takes a pack apart that an executor hands over: it was delivered before, or the executor cannot
// begin all of its runs. Each of its triggers comes again, and is judged by itself.
func (g *group) takeApart(ctx context.Context, m *nats.Msg, at bus.Position, delivery int) {
	back := func() bool { return delivery == 1 || g.naks.allGivenBack(at, delivery) }
	given := back()
	if !given { // unless NATS tells of a give-back only now
		_ = pause.For(ctx, backWait) // if ctx is done, what follows says so
		given = back()
	}
	err := g.d.conn.Attempts().TakeApart(ctx, at, given)
	switch {
	case errors.Is(err, job.ErrInvalid):
		g.d.metrics.outcome(outcomeRejected)
		g.d.log.WarnContext(ctx, "pack of triggers rejected", "executor_group", g.name, "subject", m.Subject, "error", err)
		g.answer(m, "+TERM")
	case err != nil:
		g.d.log.DebugContext(ctx, "pack of triggers not taken apart", "executor_group", g.name, "error", err)
		g.answer(m, bus.NakAfter(holdMin))
	}
}

// apart reports whether whoever may have begun the attempt from its pack says so when asked. It looks whether
// the pack is off the stream, and removes it if not. An instance that was sent the pack before has got it by
// the next time that the attempt is judged.
func (o *offer) apart(ctx context.Context) bool {
	if o.pack.seq == 0 || o.pack.off {
		return true
	}
	if err := o.g.d.conn.Remove(ctx, o.at.Stream, o.pack.seq); err != nil {
		o.g.d.log.DebugContext(ctx, "pack of triggers not removed", "executor_group", o.g.name, "error", err)
		return false
	}
	o.pack.off = true
	return false
}

// onStream returns how often the message on the stream had been delivered at a delivery of the trigger.
func (d *deliveries) onStream(delivery int) int {
	if d.pack.seq > 0 {
		return delivery - 1
	}
	return delivery
}

// gaveBack reports whether a delivery of the trigger was given back, as far as that is remembered.
func (o *offer) gaveBack(delivery int) bool {
	if delivery = o.onStream(delivery); delivery == 0 {
		return o.pack.back
	}
	return o.g.naks.gaveBack(o.at, delivery)
}
