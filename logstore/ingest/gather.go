package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/logstore"
)

// idleWait is how long a request for the first message of a batch lasts.
const idleWait = 5 * time.Second

// portion is messages that are written at once.
type portion struct {
	messages []*message // none when all that came was gathered before
	batch    *batch     // what they say
	acks     []*message // are acknowledged after that: with all before them, or each by itself
}

// gather hands out what comes, decoded, until something fails. It is one portion ahead
// of the writing, and so are its requests: what it took may come again before it is
// written, when the store is away for long.
func (f *feed) gather(ctx context.Context, to chan<- *portion) error {
	send := func(p *portion) error {
		select {
		case to <- p:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for busy := false; ; {
		messages, err := f.next(ctx, busy)
		if err != nil {
			return err
		}
		busy = false
		if len(messages) == 0 {
			continue
		}
		pending := messages[len(messages)-1].pending
		busy = 2*pending >= uint64(len(messages))
		if f.queue {
			err = f.gatherQueue(ctx, messages, send)
		} else {
			err = f.gatherStream(ctx, messages, send)
		}
		if err != nil {
			return err
		}
	}
}

// next returns the messages that are there. When there are none, it waits for the
// first and then a little longer for its companions; under load there always are
// some, and batches grow with the time that a write takes.
func (f *feed) next(ctx context.Context, busy bool) ([]*message, error) {
	if busy {
		if messages, err := f.pull(ctx, jet.PullRequest{Batch: f.cfg.MaxBatch, MaxBytes: f.bytes, NoWait: true}); err != nil || len(messages) > 0 {
			return messages, err
		}
	}
	messages, err := f.pull(ctx, jet.PullRequest{Batch: 1, Expires: idleWait})
	if err != nil || len(messages) == 0 {
		return nil, err
	}
	if pause.For(ctx, f.cfg.Linger) != nil {
		return nil, ctx.Err()
	}
	more, err := f.pull(ctx, jet.PullRequest{Batch: f.cfg.MaxBatch - 1, MaxBytes: f.bytes, NoWait: true})
	return append(messages, more...), err
}

func (f *feed) pull(ctx context.Context, r jet.PullRequest) ([]*message, error) {
	if r.Batch < 1 {
		return nil, nil
	}
	return pull(ctx, f.conn.Conn, f.stream, f.consumer, r)
}

// gatherStream leaves out what was gathered before.
func (f *feed) gatherStream(ctx context.Context, messages []*message, send func(*portion) error) error {
	fresh := messages[:0:0]
	for _, m := range messages {
		f.delivery++
		if err := inOrder(m, f.delivery, f.stream); err != nil {
			return err
		}
		// What comes again, because the store was away for long, is in an earlier portion.
		if m.seq > f.position {
			if err := f.passOver(ctx, m.seq); err != nil {
				return err
			}
			fresh, f.position = append(fresh, m), m.seq
		}
	}
	if len(fresh) == 0 {
		return send(&portion{acks: messages[len(messages)-1:]})
	}
	return send(&portion{messages: fresh, batch: f.decodeAll(ctx, fresh), acks: fresh[len(fresh)-1:]})
}

// passOver goes over what is missing between what was gathered last and a message: only
// over what the stream's leader has not, either.
func (f *feed) passOver(ctx context.Context, next uint64) error {
	if !f.dense || next <= f.position+1 {
		return nil
	}
	if err := nothingFrom(ctx, f.conn, f.stream, f.subjects, f.position+1, next-1); err != nil {
		return err
	}
	f.countDropped(ctx, next)
	return nil
}

// countDropped counts what the stream has dropped between what was gathered last and a
// message, because it was full or too old: the store was away for longer than the stream lasts.
// Its leader has confirmed that.
func (f *feed) countDropped(ctx context.Context, next uint64) {
	if !f.dense || f.position == 0 || next <= f.position+1 {
		return
	}
	n := next - f.position - 1
	f.metrics.dropped.WithLabelValues(f.stream).Add(float64(n))
	f.inSteps.WarnContext(ctx, "messages dropped before the log store took them", "stream", f.stream, "count", n, "before", next)
}

// gatherQueue takes messages that came again apart from the others: they are old, and
// a range that held both would hold much between that is written already.
func (f *feed) gatherQueue(ctx context.Context, messages []*message, send func(*portion) error) error {
	again, fresh := splitRedelivered(messages)
	for len(again) > 0 || len(fresh) > 0 {
		if len(again) > 0 {
			if err := send(&portion{messages: again, batch: f.decodeAll(ctx, again), acks: again}); err != nil {
				return err
			}
		}
		if again = nil; len(fresh) == 0 {
			continue
		}
		var b *batch
		var err error
		if fresh, b, again, err = f.delayRecords(ctx, fresh); err != nil {
			return err
		}
		if err = send(&portion{messages: fresh, batch: b, acks: fresh}); err != nil {
			return err
		}
		fresh = nil
	}
	return nil
}

// decodeAll decodes messages. Those that cannot be used go to the stream of dead letters.
func (f *feed) decodeAll(ctx context.Context, messages []*message) *batch {
	buried := 0
	return f.decodePart(ctx, messages, &buried)
}

// decodePart is decodeAll for a part of a batch. buried counts the dead letters of the whole batch.
func (f *feed) decodePart(ctx context.Context, messages []*message, buried *int) *batch {
	b := &batch{}
	if f.seen != nil {
		b.updates, b.sources = make([]logstore.Update, 0, len(messages)), make([]source, 0, len(messages)) // an event is one
	}
	for _, m := range messages {
		b.source = source{message: m}
		f.decode(b, m)
	}
	for i, r := range b.refused {
		f.refused.add(f.stream, r.reason)
		if first := i == 0 || b.refused[i-1].source != r.source; first && *buried < maxBuried {
			f.bury(ctx, r.source, r.reason)
			*buried++
		}
	}
	f.metrics.messages.WithLabelValues(f.stream).Add(float64(len(messages)))
	return b
}

// foreign tells of updates that the store has left out, because they are about runs of
// another job. Their messages go to the stream of dead letters.
func (f *feed) foreign(ctx context.Context, b *batch, left *logstore.ForeignError) {
	buried := 0
	for i, reason := range left.Updates {
		f.refused.add(f.stream, reason)
		if of := b.sources[i]; of.message != nil && buried < maxBuried {
			f.bury(ctx, of, reason)
			buried++
		}
	}
}

// maxBuried bounds the dead letters of a batch: beyond, rubbish is counted only.
const maxBuried = 100

// bury keeps what was refused for people to look at, and tells its sender. That it cannot must
// not stop the rest.
func (f *feed) bury(ctx context.Context, of source, reason error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errors.New("the stream of dead letters does not answer"))
	defer cancel()
	letter := bus.Letter(&nats.Msg{Subject: of.subject, Header: of.header, Data: of.data}, of.end, f.conn.Cluster().Shards)
	err := f.conn.DeadLetters().Bury(ctx, f.stream, of.seq, of.end, letter, reason)
	if err != nil && ctx.Err() == nil {
		f.inSteps.WarnContext(ctx, "refused message not kept", "stream", f.stream, "sequence", of.seq, "error", err)
	}
	f.teller.add(f.stream, of.seq, letter, reason)
}
