package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/logstore"
)

// A NATS server ends a connection for which 64 MB wait to be sent (max_pending), and with more
// partitions there are more feeds. So they share what they may ask for: records and events
// twice writeBytes, log lines once.
const (
	// writeBytes bounds the size of one write's messages. ClickHouse takes a fifth more ends
	// of runs a second with 16 MiB than with 8.
	writeBytes = 16 << 20
	// factBytes is the same for what is rare.
	factBytes = 1 << 20
)

// feed moves one stream into the store.
type feed struct {
	*Ingest
	stream   string
	subjects []string // that tell something; none is all
	consumer string
	bytes    int // at most so many are asked for at once
	decode   func(*batch, *message)
	// queue is set for streams of triggers, which are work queues: acknowledgement is for one message, and
	// what was delivered and lost comes again by itself.
	queue bool
	// dense is set for streams on which every message has the number after that of the one
	// before, unless that was dropped.
	dense bool

	ranges *ranges
	// seen hears from the events what the records then need not say.
	seen *seenRuns
	// holdLines bounds the lines of records that are held back.
	holdLines int
	// lock is shared by the feeds that write runs; nil for the others.
	lock *writeLock
	// caughtUp says that the stream is where the last session would have come.
	caughtUp bool
	// Of the other streams: all up to position is gathered, and delivery was the
	// number of the last delivery.
	position, delivery uint64
}

func (in *Ingest) feeds() []*feed {
	decoder := newDecoder(in.conn)
	lock := newWriteLock()
	var feeds []*feed
	partitions := in.conn.Cluster().Partitions
	n := partitions.Count()
	for p := range n {
		seen := newSeenRuns(seenMax / n) // the records of a run are in the partition of its events
		feeds = append(feeds,
			&feed{Ingest: in, stream: partitions.Trig(p), consumer: bus.ConsumerLedger, bytes: writeBytes / n, queue: true, seen: seen, holdLines: holdLines / n, lock: lock, decode: decodeRecord},
			&feed{Ingest: in, stream: partitions.Evt(p), consumer: bus.ConsumerEvents, bytes: writeBytes / n, dense: true, seen: seen, lock: lock, decode: decoder.event})
	}
	feeds = append(feeds, &feed{Ingest: in, stream: bus.StreamLog, consumer: bus.ConsumerLogs, bytes: writeBytes, dense: true, decode: decoder.log})
	for _, s := range cluster.FactStreams {
		feeds = append(feeds, &feed{Ingest: in, stream: s.Stream, subjects: s.Subjects, consumer: bus.ConsumerFacts, bytes: factBytes, decode: factDecoders[s.Stream]})
	}
	return feeds
}

// streams returns what is ingested.
func (in *Ingest) streams() []string {
	all := slices.Concat(in.conn.Trigs(), in.conn.Evts(), []string{bus.StreamLog})
	for _, s := range cluster.FactStreams {
		all = append(all, s.Stream)
	}
	return all
}

// run feeds until ctx is done, and then returns nil, or until another ingester is
// at work.
func (f *feed) run(ctx context.Context) error {
	for again := newBackoff(); ; {
		begun := time.Now()
		err := f.session(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // whatever the stop has interrupted
		case errors.Is(err, job.ErrStale):
			return err
		case time.Since(begun) > time.Minute:
			again = newBackoff()
		}
		f.log.WarnContext(ctx, "ingest begins anew", "stream", f.stream, "error", err)
		_ = again.Wait(ctx)
	}
}

// session brings the stream to where the last session would have come, and goes on
// from there until something fails.
func (f *feed) session(ctx context.Context) error {
	if !f.caughtUp {
		var err error
		if f.ranges, err = openRanges(ctx, f.conn, f.stream); err != nil {
			return err
		}
		if err := f.catchUp(ctx); err != nil {
			return err
		}
	}
	f.caughtUp = false // once something has failed
	return f.flow(ctx)
}

// flow writes one portion while it gathers the next, until either fails. What was
// gathered and not written, the next session reads from the stream.
func (f *feed) flow(ctx context.Context) error {
	gathering, stop := context.WithCancel(ctx)
	portions := make(chan *portion) // with room for none: one is at hand while another is written
	var gathered error              // is set when portions is closed
	go func() {
		defer close(portions)
		gathered = f.gather(gathering, portions)
	}()
	var written error
	for p := range portions {
		if written = f.writePortion(ctx, p); written != nil {
			break
		}
	}
	stop()
	for range portions { // waits for gather to return
	}
	if written != nil {
		return written
	}
	return gathered
}

// writePortion writes a portion, and acknowledges it.
func (f *feed) writePortion(ctx context.Context, p *portion) error {
	if len(p.messages) > 0 {
		if err := f.writeRange(ctx, p.messages, p.batch); err != nil {
			return err
		}
		if f.seen != nil && !f.queue {
			f.seen.note(p.batch.updates)
		}
	}
	for _, m := range p.acks {
		if err := f.ack(m); err != nil {
			return err
		}
	}
	return nil
}

// ack need not be known to have arrived: what comes again changes nothing.
func (f *feed) ack(m *message) error {
	if err := f.conn.NC.Publish(m.reply, []byte("+ACK")); err != nil {
		return fmt.Errorf("acknowledge message %d of %s: %w", m.seq, f.stream, jet.Unavailable(err))
	}
	return nil
}

// writeRange notes the range of messages and writes what they say.
func (f *feed) writeRange(ctx context.Context, messages []*message, b *batch) error {
	if err := f.lock.lock(ctx); err != nil {
		return err
	}
	defer f.lock.unlock()
	r := span{First: messages[0].seq, Last: messages[len(messages)-1].seq, Count: len(messages), Made: f.ranges.made}
	if err := f.ranges.put(ctx, r); err != nil {
		return err
	}
	return f.write(ctx, r, b, false)
}

// repeatRange writes the last range again.
func (f *feed) repeatRange(ctx context.Context, messages []*message) error {
	if err := f.lock.lock(ctx); err != nil {
		return err
	}
	defer f.lock.unlock()
	return f.write(ctx, f.ranges.last, f.decodeAll(ctx, messages), true)
}

// write hands what the messages of a range say to the store until that takes it. repeat says
// that somebody may have begun to.
func (f *feed) write(ctx context.Context, r span, b *batch, repeat bool) error {
	token := r.token(f.stream)
	for again, failures := newBackoff(), 1; ; failures++ {
		begun := time.Now()
		err := b.write(ctx, f.store, token, repeat || failures > 1)
		if left := (*logstore.ForeignError)(nil); errors.As(err, &left) {
			f.foreign(ctx, b, left)
			err = nil
		}
		if err == nil {
			f.metrics.write.WithLabelValues(f.stream).Observe(time.Since(begun).Seconds())
			f.metrics.rows.WithLabelValues(f.stream).Add(float64(len(b.updates) + len(b.lines) + len(b.facts)))
			f.metrics.observe(b.updates)
			return nil
		}
		f.metrics.failures.WithLabelValues(f.stream).Inc()
		if isPowerOfTwo(failures) {
			f.log.WarnContext(ctx, "log store does not take a batch", "stream", f.stream, "token", token, "failures", failures, "error", err)
		}
		if again.Wait(ctx) != nil {
			return ctx.Err()
		}
	}
}

// newBackoff paces what is tried until it works.
func newBackoff() pause.Backoff {
	return pause.Backoff{Least: 100 * time.Millisecond, Most: 10 * time.Second}
}

func isPowerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }
