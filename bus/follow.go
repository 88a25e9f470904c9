package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Follow calls yield with every message of a stream on subjects that match filter,
// from sequence from on, in order and without gap, until ctx is done; it returns nil
// then. It needs no durable consumer: where it was is its caller's to know.
func (c *Conn) Follow(ctx context.Context, stream, filter string, from uint64, yield func(*Stored)) error {
	wait := time.NewTimer(0)
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-wait.C:
		}
		next, err := c.followOnce(ctx, stream, filter, from, yield)
		from = next
		if err == nil || ctx.Err() != nil {
			return nil
		}
		wait.Reset(250 * time.Millisecond) // the consumer is gone, or there was a gap: make another
	}
}

// followOnce is Follow until something goes wrong. It returns the sequence at which
// to go on.
func (c *Conn) followOnce(ctx context.Context, stream, filter string, from uint64, yield func(*Stored)) (uint64, error) {
	cons, err := c.JS.CreateConsumer(ctx, stream, jetstream.ConsumerConfig{
		FilterSubject:     filter,
		DeliverPolicy:     jetstream.DeliverByStartSequencePolicy,
		OptStartSeq:       max(from, 1),
		AckPolicy:         jetstream.AckNonePolicy,
		MemoryStorage:     true,
		Replicas:          1,
		InactiveThreshold: time.Minute,
	})
	if err != nil {
		return from, fmt.Errorf("follow %s of %s: %w", filter, stream, err)
	}
	defer func() {
		// The follower's end may be that of the connection; the server forgets the
		// consumer by itself after the threshold.
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = c.JS.DeleteConsumer(clean, stream, cons.CachedInfo().Name)
	}()
	f := follower{cons: cons, from: from, yield: yield, expect: 1}
	for ctx.Err() == nil {
		if err := f.page(ctx); err != nil {
			return f.from, fmt.Errorf("follow %s of %s: %w", filter, stream, err)
		}
	}
	return f.from, nil
}

// follower reads one consumer. The consumer acknowledges nothing, so the server
// sends each message once; the consumer's own numbers show whether one was lost.
type follower struct {
	cons   jetstream.Consumer
	yield  func(*Stored)
	from   uint64 // sequence of the stream at which to go on
	expect uint64 // sequence of the consumer that comes next
}

// page reads what comes within a few seconds.
func (f *follower) page(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	batch, err := f.cons.Fetch(1000, jetstream.FetchContext(ctx))
	if err != nil {
		return err
	}
	for m := range batch.Messages() {
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		if meta.Sequence.Consumer != f.expect {
			return errors.New("a message was lost on the way")
		}
		f.expect++
		f.from = meta.Sequence.Stream + 1
		f.yield(&Stored{Subject: m.Subject(), Seq: meta.Sequence.Stream, Header: m.Headers(), Data: m.Data(), At: meta.Timestamp})
	}
	if err := batch.Error(); err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// LastSeq returns the last sequence of a stream.
func (c *Conn) LastSeq(ctx context.Context, stream string) (uint64, error) {
	s, err := c.JS.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("look up stream %s: %w", stream, Unavailable(err))
	}
	return s.CachedInfo().State.LastSeq, nil
}
