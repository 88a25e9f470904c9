package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
)

const (
	// publishTimeout is how long a publish waits for its answer before it is repeated.
	publishTimeout = 5 * time.Second
	publishWaitMin = 250 * time.Millisecond
	publishWaitMax = 5 * time.Second

	// maxPending is more than runs have on their way before publishTimeout: with as many, the client
	// library would block the loop. A run has its end, a batch of lines, its start and some progress.
	maxPending = 8*MaxSlots + 1024
)

// publisher stores messages in JetStream. Methods may be called concurrently.
type publisher struct {
	js        jetstream.JetStream // nil in a rehearsal
	log       *slog.Logger
	observers observers
	lines     []bus.LogLine // of a rehearsal
}

// connect gives p its connection.
func (p *publisher) connect(nc *nats.Conn) (err error) {
	// A context of its own, so that its pending publishes can be ended with it.
	p.js, err = jetstream.New(nc,
		jetstream.WithPublishAsyncTimeout(publishTimeout),
		jetstream.WithPublishAsyncMaxPending(maxPending))
	return err
}

// publishUntilStored publishes m, a finished event or log lines, until JetStream has stored it,
// or ctx is done. Repeats must be harmless. If NATS has come back with a smaller max_payload, m
// is made to fit; the error is [nats.ErrMaxPayload] if it cannot be. Its log lines have the
// attributes about.
func (p *publisher) publishUntilStored(ctx context.Context, m *nats.Msg, about ...any) error {
	wait := publishWaitMin
	for try := uint(1); ; try++ {
		err := p.publish(ctx, m)
		switch {
		case errors.Is(err, nats.ErrMaxPayload):
			return p.publishParts(ctx, m, about...)
		case err == nil, ctx.Err() != nil:
			return err
		}
		p.observers.count(CountEventRetries, 1)
		if bits.OnesCount(try) == 1 { // the first, and then each doubling
			p.log.With(about...).WarnContext(ctx, "not stored by NATS, tried again", "tries", try, "error", err)
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, publishWaitMax)
	}
}

// publishParts publishes m, which NATS does not take, as smaller messages.
func (p *publisher) publishParts(ctx context.Context, m *nats.Msg, about ...any) error {
	parts, err := bus.MsgsWithin(m, p.maxPayload())
	if err != nil {
		return errors.Join(nats.ErrMaxPayload, err)
	}
	for _, part := range parts {
		if len(part.Data) >= len(m.Data) {
			return nats.ErrMaxPayload
		}
		if err := p.publishUntilStored(ctx, part, about...); err != nil {
			return err
		}
	}
	return nil
}

// publish publishes m once and waits until JetStream has answered.
func (p *publisher) publish(ctx context.Context, m *nats.Msg) error {
	if p.js == nil {
		return p.rehearse(m)
	}
	f, err := p.js.PublishMsgAsync(m)
	if err != nil {
		return err
	}
	select {
	case <-f.Ok():
		return nil
	case err := <-f.Err():
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answer tells JetStream about a trigger. An answer that is lost, because the
// connection is, is made up for: the trigger comes again.
func (p *publisher) answer(reply, what string) {
	if err := p.js.Conn().Publish(reply, []byte(what)); err != nil {
		p.log.Debug("trigger not answered", "answer", what, "error", err)
	}
}

// giveBack asks JetStream to deliver a trigger again, not before some time has passed.
func (p *publisher) giveBack(reply string, after time.Duration) {
	p.observers.count(CountGivenBack, 1)
	p.answer(reply, bus.NakAfter(after))
}

// maxPayload returns how large a message NATS takes; 0 in a rehearsal, which has none.
func (p *publisher) maxPayload() int64 {
	if p.js == nil {
		return 0
	}
	return p.js.Conn().MaxPayload()
}

// rehearse takes the place of the bus: only log lines come here.
func (p *publisher) rehearse(m *nats.Msg) error {
	var l bus.Log
	if err := json.Unmarshal(m.Data, &l); err != nil {
		return fmt.Errorf("decode rehearsed log lines: %w", err)
	}
	p.lines = append(p.lines, l.Lines...)
	return nil
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
