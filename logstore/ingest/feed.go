package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"carillon/bus"
	"carillon/job"
	"carillon/logstore"
)

// idleWait is how long a request for the first message of a batch lasts.
const idleWait = 5 * time.Second

// feed moves one stream into the store.
type feed struct {
	*Ingest
	stream   string
	consumer string
	decode   func(*batch, *message)
	// queue is set for TRIG, a work queue: acknowledgement is for one message, and
	// what was delivered and lost comes again by itself.
	queue bool

	ranges *ranges
	// told hears from the events what the records then need not say.
	told *told
	// Of the other streams: all up to position is written, and delivery was the
	// number of the last delivery.
	position, delivery uint64
}

func (in *Ingest) feeds() []*feed {
	shards := in.conn.Cluster().Shards
	told := newTold()
	return []*feed{
		{Ingest: in, stream: bus.StreamTrig, consumer: bus.ConsumerLedger, queue: true, told: told, decode: decodeRecord},
		{Ingest: in, stream: bus.StreamEvt, consumer: bus.ConsumerEvents, told: told, decode: func(b *batch, m *message) { decodeEvent(b, m, shards) }},
		{Ingest: in, stream: bus.StreamLog, consumer: bus.ConsumerLogs, decode: decodeLog},
	}
}

// run feeds until ctx is done, and then returns nil, or until another ingester is
// at work.
func (f *feed) run(ctx context.Context) error {
	for pause := (backoff{}); ; {
		begun := time.Now()
		err := f.session(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // whatever the stop has interrupted
		case errors.Is(err, job.ErrStale):
			return err
		case time.Since(begun) > time.Minute:
			pause = backoff{}
		}
		f.log.WarnContext(ctx, "ingest begins anew", "stream", f.stream, "error", err)
		pause.wait(ctx)
	}
}

// session brings the stream to where the last session would have come, and goes on
// from there until something fails.
func (f *feed) session(ctx context.Context) error {
	var err error
	if f.ranges, err = openRanges(ctx, f.conn, f.stream); err != nil {
		return err
	}
	if f.queue {
		err = f.repeatQueue(ctx)
	} else {
		err = f.repeatStream(ctx)
	}
	if err != nil {
		return fmt.Errorf("recover %s: %w", f.stream, err)
	}
	for full := false; ; {
		var messages []*message
		if messages, err = f.next(ctx, full); err != nil {
			return err
		}
		full = len(messages) >= f.cfg.MaxBatch/2
		if err := f.take(ctx, messages); err != nil {
			return err
		}
	}
}

// next returns the messages that are there. When there are none, it waits for the
// first and then a little longer for its companions; under load there always are
// some, and batches grow with the time that a write takes.
func (f *feed) next(ctx context.Context, busy bool) ([]*message, error) {
	if busy {
		if messages, err := f.pull(ctx, pullRequest{Batch: f.cfg.MaxBatch, MaxBytes: f.cfg.MaxBytes, NoWait: true}); err != nil || len(messages) > 0 {
			return messages, err
		}
	}
	messages, err := f.pull(ctx, pullRequest{Batch: 1, Expires: idleWait})
	if err != nil || len(messages) == 0 {
		f.metrics.lag.WithLabelValues(f.stream).Set(0)
		return nil, err
	}
	if !wait(ctx, f.cfg.Linger) {
		return nil, ctx.Err()
	}
	more, err := f.pull(ctx, pullRequest{Batch: f.cfg.MaxBatch - 1, MaxBytes: f.cfg.MaxBytes, NoWait: true})
	return append(messages, more...), err
}

func (f *feed) pull(ctx context.Context, r pullRequest) ([]*message, error) {
	if r.Batch < 1 {
		return nil, nil
	}
	return pull(ctx, f.conn.NC, f.stream, f.consumer, r)
}

// take writes messages as they were delivered, and acknowledges them.
func (f *feed) take(ctx context.Context, messages []*message) error {
	if len(messages) == 0 {
		return nil
	}
	f.metrics.lag.WithLabelValues(f.stream).Set(float64(messages[len(messages)-1].pending))
	if f.queue {
		return f.takeQueue(ctx, messages)
	}
	return f.takeStream(ctx, messages)
}

// takeQueue takes messages that came again apart from the others: they are old, and
// a range that held both would hold much between that is written already.
func (f *feed) takeQueue(ctx context.Context, messages []*message) error {
	again, fresh := splitRedelivered(messages)
	for len(again) > 0 || len(fresh) > 0 {
		if len(again) > 0 {
			if err := f.writeQueue(ctx, again, f.said(ctx, again)); err != nil {
				return err
			}
		}
		if again = nil; len(fresh) == 0 {
			continue
		}
		var b *batch
		var err error
		if fresh, b, again, err = f.hold(ctx, fresh); err != nil {
			return err
		}
		if err = f.writeQueue(ctx, fresh, b); err != nil {
			return err
		}
		fresh = nil
	}
	return nil
}

func (f *feed) writeQueue(ctx context.Context, messages []*message, b *batch) error {
	if err := f.writeRange(ctx, messages, b); err != nil {
		return err
	}
	for _, m := range messages {
		if err := f.ack(m); err != nil {
			return err
		}
	}
	return nil
}

func (f *feed) takeStream(ctx context.Context, messages []*message) error {
	fresh := messages[:0:0]
	for _, m := range messages {
		f.delivery++
		if err := inOrder(m, f.delivery, f.stream); err != nil {
			return err
		}
		// What comes again, because the store was away for long, is written already.
		if m.seq > f.position {
			fresh, f.position = append(fresh, m), m.seq
		}
	}
	if len(fresh) == 0 {
		return f.ack(messages[len(messages)-1])
	}
	b := f.said(ctx, fresh)
	if err := f.writeRange(ctx, fresh, b); err != nil {
		return err
	}
	if f.told != nil {
		f.told.note(b.updates)
	}
	return f.ack(fresh[len(fresh)-1])
}

// ack need not be known to have arrived: what comes again changes nothing.
func (f *feed) ack(m *message) error {
	if err := f.conn.NC.Publish(m.reply, []byte("+ACK")); err != nil {
		return fmt.Errorf("acknowledge message %d of %s: %w", m.seq, f.stream, bus.Unavailable(err))
	}
	return nil
}

// said decodes messages. Those that cannot be used go to the stream of dead letters.
func (f *feed) said(ctx context.Context, messages []*message) *batch {
	b := &batch{}
	if f.told != nil {
		b.updates = make([]logstore.Update, 0, len(messages)) // an event is one
	}
	buried := 0
	for _, m := range messages {
		before := len(b.refused)
		if f.decode(b, m); len(b.refused) > before && buried < maxBuried {
			f.bury(ctx, m, b.refused[before])
			buried++
		}
	}
	for _, reason := range b.refused {
		f.refused.add(f.stream, reason)
	}
	f.metrics.messages.WithLabelValues(f.stream).Add(float64(len(messages)))
	return b
}

// maxBuried bounds the dead letters of a batch: beyond, rubbish is counted only.
const maxBuried = 100

// bury keeps a message that was refused for people to look at. That it cannot must
// not stop the rest.
func (f *feed) bury(ctx context.Context, m *message, reason error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errors.New("the stream of dead letters does not answer"))
	defer cancel()
	err := f.conn.BuryMessage(ctx, f.stream, m.seq, &nats.Msg{Subject: m.subject, Header: m.header, Data: m.data}, reason)
	if err != nil && ctx.Err() == nil {
		f.log.WarnContext(ctx, "refused message not kept", "stream", f.stream, "sequence", m.seq, "error", err)
	}
}

// writeRange notes the range of messages and writes what they say.
func (f *feed) writeRange(ctx context.Context, messages []*message, b *batch) error {
	r := span{First: messages[0].seq, Last: messages[len(messages)-1].seq, Count: len(messages)}
	if err := f.ranges.put(ctx, r); err != nil {
		return err
	}
	return f.write(ctx, r, b)
}

// write hands what the messages of a range say to the store until that takes it.
func (f *feed) write(ctx context.Context, r span, b *batch) error {
	token := fmt.Sprintf("%s:%d-%d", f.stream, r.First, r.Last)
	for pause, failures := (backoff{}), 1; ; failures++ {
		begun := time.Now()
		err := b.write(ctx, f.store, token)
		if err == nil {
			f.metrics.write.WithLabelValues(f.stream).Observe(time.Since(begun).Seconds())
			f.metrics.rows.WithLabelValues(f.stream).Add(float64(len(b.updates) + len(b.lines)))
			f.metrics.observe(b.updates)
			return nil
		}
		f.metrics.failures.WithLabelValues(f.stream).Inc()
		if isPowerOfTwo(failures) {
			f.log.WarnContext(ctx, "log store does not take a batch", "stream", f.stream, "token", token, "failures", failures, "error", err)
		}
		if !pause.wait(ctx) {
			return ctx.Err()
		}
	}
}

// info returns what the server knows of the feed's consumer.
func (f *feed) info(ctx context.Context) (*jetstream.ConsumerInfo, error) {
	c, err := f.conn.JS.Consumer(ctx, f.stream, f.consumer)
	if err != nil {
		return nil, fmt.Errorf("look up consumer %s on %s: %w", f.consumer, f.stream, bus.Unavailable(err))
	}
	return c.CachedInfo(), nil
}

// backoff waits twice as long each time, from 100 ms to 10 s.
type backoff struct{ last time.Duration }

func (b *backoff) wait(ctx context.Context) bool {
	b.last = min(max(2*b.last, 100*time.Millisecond), 10*time.Second)
	return wait(ctx, b.last)
}

func isPowerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }
