package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
)

// maxTransfers bounds the triggers that executors have handed over and a dispatcher is placing. It
// refuses more, and they come again.
const maxTransfers = 4096

// answerTransfer answers an executor that hands over a trigger that it has pulled: the trigger was
// delivered before, or the executor cannot do it. The dispatcher owns it after its answer.
func (d *Dispatcher) answerTransfer(ctx context.Context, m *nats.Msg) {
	err := d.acceptTransfer(ctx, m)
	if errors.Is(err, job.ErrInvalid) {
		d.metrics.outcome(outcomeRejected)
		group := strings.TrimPrefix(m.Subject, bus.SubjectHand(""))
		d.log.WarnContext(ctx, "trigger handed over rejected", "executor_group", group, "error", err)
	}
	if err := bus.Respond(m, struct{}{}, err); err != nil {
		d.log.DebugContext(ctx, "hand-over not answered", "subject", m.Subject, "error", err)
	}
}

// acceptTransfer begins to place a trigger that an executor hands over. It trusts the request only to
// name the trigger, which must be of the group's own consumer.
func (d *Dispatcher) acceptTransfer(ctx context.Context, m *nats.Msg) error {
	name := strings.TrimPrefix(m.Subject, bus.SubjectHand(""))
	ack := m.Header.Get(bus.HeaderAck)
	at, delivery, err := bus.ParseAck(ack, name)
	if err != nil {
		return err
	}
	d.mu.Lock()
	g := d.groups[name]
	d.mu.Unlock()
	switch {
	case g == nil:
		return fmt.Errorf("%w: no instance of group %s has been heard of yet", job.ErrUnavailable, name)
	case d.transfers.Load() >= maxTransfers:
		return fmt.Errorf("%w: too many triggers have been handed over", job.ErrUnavailable)
	}
	d.transfers.Add(1)
	from := m.Header.Get(bus.HeaderInstance)
	d.serving.Go(func() {
		defer d.transfers.Add(-1)
		g.placeTransferred(ctx, at, delivery, from, &nats.Msg{Reply: ack, Sub: m.Sub})
	})
	return nil
}

// placeTransferred places a trigger that was handed over. m has the subject of its acknowledgement.
func (g *group) placeTransferred(ctx context.Context, at bus.Position, delivery int, from string, m *nats.Msg) {
	stored, err := g.d.conn.At(ctx, at.Stream, at.Seq)
	if err != nil {
		g.d.log.DebugContext(ctx, "trigger handed over not read", "executor_group", g.name, "error", err)
		g.answer(m, bus.NakAfter(holdMin)) // it comes again unless it is gone: see [offer.gone]
		return
	}
	m.Subject, m.Header, m.Data = stored.Subject, stored.Header, stored.Data
	if bus.IsPack(m.Header) {
		g.takeApart(ctx, m, at, delivery)
		return
	}
	o := g.newOffer(ctx, m)
	if o == nil {
		return
	}
	if o.from = from; o.t.Prefer != "" {
		o.from = "" // it is meant for somebody
	}
	o.place(ctx)
}

// place offers a trigger that was handed over until an instance has it, for a moment at most. Then it
// is given back.
func (o *offer) place(ctx context.Context) {
	for {
		o.began = time.Now()
		res := o.try(ctx)
		now := time.Now()
		wait := busyRetry
		if o.alone(now) {
			wait = aloneAgain
		}
		switch closed := now.Before(o.g.closedUntil()); {
		case res == taken, res == unknown:
			o.g.d.metrics.outcome(outcomeOf(res))
			return
		case res == settled:
			return
		case res != busy, closed, now.Sub(o.came) >= o.most(now):
			o.postpone(ctx, o.why(res))
			return
		case now.Sub(o.came) >= patience:
			o.tellOnce(ctx, o.why(res))
		}
		o.sign()
		if pause.For(ctx, wait) != nil {
			o.giveBackAfter(holdMin)
			return
		}
	}
}
