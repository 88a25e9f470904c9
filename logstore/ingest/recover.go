package ingest

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
)

// catchUp brings the stream to where the last session would have come.
func (f *feed) catchUp(ctx context.Context) error {
	repeat := f.repeatStream
	if f.queue {
		repeat = f.repeatQueue
	}
	if err := repeat(ctx); err != nil {
		return fmt.Errorf("recover %s: %w", f.stream, err)
	}
	return nil
}

// repeatStream writes the last range of a stream again, if it may not have been
// written, and what was delivered after it.
func (f *feed) repeatStream(ctx context.Context) error {
	info, err := f.conn.ConsumerInfo(ctx, f.stream, f.consumer)
	if err != nil {
		return err
	}
	f.position, f.delivery = info.AckFloor.Stream, info.Delivered.Consumer
	// A range beyond all deliveries is of a stream, or of a consumer, that is no more.
	if last := f.ranges.last; last.Last > f.position && last.Last <= info.Delivered.Stream {
		messages, err := f.read(ctx, last.First, last.Last, last.Count, math.MaxInt)
		if err != nil {
			return err
		}
		if err := f.repeatRange(ctx, messages); err != nil {
			return err
		}
		f.position = last.Last
	}
	for f.position < info.Delivered.Stream {
		messages, err := f.read(ctx, f.position+1, info.Delivered.Stream, f.cfg.MaxBatch, f.bytes)
		if err != nil {
			return err
		}
		if len(messages) == 0 { // the stream has none of them any more
			f.countDropped(ctx, info.Delivered.Stream+1)
			f.position = info.Delivered.Stream
			return nil
		}
		if err := f.passOver(ctx, messages[0].seq); err != nil {
			return err
		}
		if err := f.writeRange(ctx, messages, f.decodeAll(ctx, messages)); err != nil {
			return err
		}
		f.position = messages[len(messages)-1].seq
	}
	return nil
}

// read returns all messages that the stream has from first to last, until there are maxCount
// or they have maxBytes. The consumer through which it reads may be on a replica that lags
// behind, so the stream's leader has to confirm that there is no more. It is an error when
// the leader has what could not be read.
func (f *feed) read(ctx context.Context, first, last uint64, maxCount, maxBytes int) ([]*message, error) {
	cfg := reader()
	cfg.DeliverPolicy, cfg.OptStartSeq, cfg.FilterSubjects = jetstream.DeliverByStartSequencePolicy, first, f.subjects
	c, err := f.conn.JS.CreateConsumer(ctx, f.stream, cfg)
	if err != nil {
		return nil, fmt.Errorf("read %s from %d: %w", f.stream, first, jet.Unavailable(err))
	}
	name := c.CachedInfo().Name
	defer func() { _ = f.conn.JS.DeleteConsumer(ctx, f.stream, name) }() // else it ends after a minute

	var found []*message
	next := first
	for size := 0; len(found) < maxCount && size < maxBytes; {
		some, err := pull(ctx, f.conn.Conn, f.stream, name, jet.PullRequest{Batch: maxCount - len(found), MaxBytes: f.bytes, NoWait: true})
		if err != nil {
			return nil, err
		}
		if len(some) == 0 {
			return found, nothingFrom(ctx, f.conn, f.stream, f.subjects, next, last)
		}
		for _, m := range some {
			if m.seq > last {
				return found, nothingFrom(ctx, f.conn, f.stream, f.subjects, next, last)
			}
			found, size, next = append(found, m), size+len(m.data), m.seq+1
			if err := inOrder(m, uint64(len(found)), f.stream); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// nothingFrom returns an error unless the stream's leader has no message from first to last
// on one of subjects.
func nothingFrom(ctx context.Context, conn *cluster.Conn, stream string, subjects []string, first, last uint64) error {
	if first > last {
		return nil
	}
	next, err := conn.NextSeq(ctx, stream, subjects, first, last)
	if err == nil && next != 0 && next <= last {
		err = fmt.Errorf("%w: the leader of stream %s has message %d, and a consumer finds none from %d on: it is on a replica that lags behind",
			job.ErrUnavailable, stream, next, first)
	}
	return err
}

// reader is a consumer that reads what is on a stream, for one who asks now.
func reader() jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute}
}

// inOrder returns an error when deliveries before m got lost on their way.
func inOrder(m *message, want uint64, stream string) error {
	if m.delivery != want {
		return fmt.Errorf("%w: delivery %d of %s came when %d was next", job.ErrUnavailable, m.delivery, stream, want)
	}
	return nil
}

// repeatQueue writes the last range of the queue again, as far as it is not
// acknowledged, and removes what it knows to be written. All else that was
// delivered comes again by itself.
func (f *feed) repeatQueue(ctx context.Context) error {
	last := f.ranges.last
	if last.Count == 0 {
		return nil
	}
	var found []*message
	err := f.conn.Scan(ctx, f.stream, "rec.*", func(s *jet.Stored) bool {
		if s.Seq >= last.First && s.Seq <= last.Last {
			found = append(found, &message{subject: s.Subject, header: s.Header, data: s.Data, seq: s.Seq})
		}
		return s.Seq < last.Last
	})
	if err != nil || len(found) == 0 {
		return err
	}
	if err := f.repeatRange(ctx, found); err != nil {
		return err
	}
	if len(found) > last.Count {
		// Others lie between those of the range. If the store had the token, it did not
		// write them now.
		return nil
	}
	for _, m := range found {
		if err := f.conn.Remove(ctx, f.stream, m.seq); err != nil {
			return err
		}
	}
	return nil
}

// splitRedelivered parts messages that come again from those that come first.
func splitRedelivered(messages []*message) (again, fresh []*message) {
	for _, m := range messages {
		if m.redelivered {
			again = append(again, m)
		} else {
			fresh = append(fresh, m)
		}
	}
	return again, fresh
}
