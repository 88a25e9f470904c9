package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/internal/pause"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/logstore"
)

const (
	// followStep is how often what has come is looked for.
	followStep = time.Second
	// followBack bounds how far back the events of a run that lives are looked for.
	followBack = 24 * time.Hour
	// At most so much is written at once, of each stream: see writeBytes.
	followBatch = 5000
	followBytes = 2 << 20
)

// Follow fills a store with what the streams have of runs since an instant, and with what
// comes, until ctx is done. It takes nothing from the streams, so whoever ingests does not
// notice; and what is damaged or forged is left out in silence, as that is theirs to tell. Runs that
// are alive are there however old they are, but with no lines from before. upTo is called,
// by one goroutine for each stream, with the instants up to which the store has what was said.
//
// It returns nil when ctx is done, and an error when the store does not take something.
func Follow(ctx context.Context, conn *cluster.Conn, store logstore.Store, since time.Time, log *slog.Logger, upTo func(stream string, at time.Time)) error {
	f := &follower{conn: conn, store: store, log: log, upTo: upTo}
	oldest := since
	for _, stream := range conn.Trigs() {
		err := f.persist(ctx, stream, func() error {
			from, err := f.live(ctx, stream, since)
			if from.Before(oldest) {
				oldest = from
			}
			return err
		})
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
	decoder := newDecoder(conn)
	g, ctx := errgroup.WithContext(ctx)
	for _, stream := range conn.Trigs() {
		g.Go(func() error { return f.records(ctx, stream) })
	}
	for _, stream := range conn.Evts() {
		g.Go(func() error { return f.stream(ctx, stream, oldest, decoder.event) })
	}
	g.Go(func() error { return f.stream(ctx, bus.StreamLog, since, decoder.log) })
	return g.Wait()
}

type follower struct {
	conn  *cluster.Conn
	store logstore.Store
	log   *slog.Logger
	upTo  func(string, time.Time)
}

// errStore is that the store does not take something, which does not pass.
type errStore struct{ error }

func (e errStore) Unwrap() error { return e.error }

// persist calls do until it returns nil, ctx is done, or the store is at fault.
func (f *follower) persist(ctx context.Context, stream string, do func() error) error {
	for again := newBackoff(); ; {
		err := do()
		if err == nil || ctx.Err() != nil {
			return nil //nolint:nilerr // whatever the stop has interrupted
		}
		if fault := (errStore{}); errors.As(err, &fault) {
			return err
		}
		f.log.DebugContext(ctx, "stream read again", "stream", stream, "error", err)
		_ = again.Wait(ctx)
	}
}

func (f *follower) write(ctx context.Context, stream string, b *batch, first, last uint64) error {
	err := b.write(ctx, f.store, fmt.Sprintf("%s:%d-%d", stream, first, last), false)
	if left := (*logstore.ForeignError)(nil); err != nil && !errors.As(err, &left) && ctx.Err() == nil {
		return errStore{err}
	}
	return ctx.Err()
}

// live writes the runs that wait or go on, which are those that a stream has a trigger or a
// deferred item of, and returns the instant from which on events tell of them.
func (f *follower) live(ctx context.Context, stream string, since time.Time) (time.Time, error) {
	oldest, b := since, &batch{}
	add := func(t *bus.Trigger, status job.Status) {
		b.update(logstore.Update{
			Kind: runlog.KindRecorded, RunID: t.RunID, Job: t.Job, Version: t.Version, Attempt: t.Attempt, Cause: t.Cause, At: t.CommittedAt,
			Status: status, Parent: t.ParentRun, Total: t.Total,
		})
		if t.CommittedAt.Before(oldest) {
			oldest = t.CommittedAt
		}
	}
	err := f.conn.Scan(ctx, stream, "trig.>", func(s *jet.Stored) bool {
		all, _ := bus.DecodeTriggers(s.Header, s.Data) // what can be read of it
		for _, t := range all {
			if t.Total == 0 { // a piece is not the run, which has an item
				add(t, job.StatusPending)
			}
		}
		return true
	})
	if err != nil {
		return since, err
	}
	err = f.conn.Scan(ctx, stream, bus.SubjectAllDeferred, func(s *jet.Stored) bool {
		d, err := journal.DecodeDeferred(s.Header, s.Data)
		if err == nil && d.Kind == journal.DeferredWaiting {
			t := &bus.Trigger{RunID: d.RunID, Job: d.Job, Version: d.Version, Attempt: 1, Cause: d.Wish.Cause, CommittedAt: d.Since}
			add(t, job.StatusQueued)
			return true
		}
		if err != nil || d.Kind != journal.DeferredQueued && d.Kind != journal.DeferredPieces && d.Kind != journal.DeferredExpected {
			return true
		}
		t, err := bus.DecodeTrigger(nil, d.Trigger)
		if err != nil {
			return true
		}
		if d.Kind == journal.DeferredPieces {
			t.Total = len(d.Pieces.States)
			add(t, job.StatusPending)
		} else {
			add(t, job.StatusQueued)
		}
		if p := d.Reported; p != nil && !p.StartedAt.IsZero() {
			b.ping(t.CommittedAt, &journal.Decided{
				RunID: t.RunID, Job: t.Job, Version: t.Version, Attempt: t.Attempt, Cause: t.Cause, FireTime: t.RunID.Time(),
				Status: job.StatusRunning, Ping: &runlog.Ping{Host: p.Host, StartedAt: p.StartedAt},
			})
		}
		return true
	})
	if err != nil {
		return since, err
	}
	if most := time.Now().Add(-followBack); oldest.Before(most) {
		oldest = most
	}
	return oldest, f.write(ctx, stream, b, 0, 0)
}

// records follows a stream of triggers, a work queue, which takes no second consumer of its records: it
// is read message by message.
func (f *follower) records(ctx context.Context, stream string) error {
	next := uint64(1)
	return f.persist(ctx, stream, func() error {
		for {
			asked, full := time.Now(), false
			b, first, size := &batch{}, next, 0
			err := f.conn.Read(ctx, jet.Reading{Stream: stream, Filter: bus.SubjectRecords, From: next}, func(s *jet.Stored) bool {
				decodeRecord(b, &message{subject: s.Subject, header: s.Header, data: s.Data, seq: s.Seq, at: s.At})
				next, size = s.Seq+1, size+len(s.Data)
				full = len(b.updates) >= followBatch || size >= followBytes
				if full {
					asked = s.At
				}
				return !full
			})
			// What was read is not read again, whatever comes after it.
			if wrote := f.write(ctx, stream, b, first, next-1); wrote != nil || err != nil {
				return errors.Join(wrote, err)
			}
			f.upTo(stream, asked)
			if !full && pause.For(ctx, followStep) != nil {
				return nil //nolint:nilerr // its owner wants no more
			}
		}
	})
}

// stream follows a stream from an instant on.
func (f *follower) stream(ctx context.Context, stream string, since time.Time, decode func(*batch, *message)) error {
	next := uint64(0)
	return f.persist(ctx, stream, func() error {
		if next == 0 {
			from, err := f.conn.SeqAt(ctx, stream, since)
			if err != nil {
				return err
			}
			next = from
		}
		cfg := reader()
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, next
		c, err := f.conn.JS.CreateConsumer(ctx, stream, cfg)
		if err != nil {
			return fmt.Errorf("follow %s: %w", stream, jet.Unavailable(err))
		}
		name := c.CachedInfo().Name
		defer func() { _ = f.conn.JS.DeleteConsumer(ctx, stream, name) }() // else it ends after a minute
		for delivery := uint64(0); ; {
			asked := time.Now()
			known, err := f.conn.LastSeq(ctx, stream)
			if err != nil {
				return err
			}
			messages, err := pull(ctx, f.conn.Conn, stream, name, jet.PullRequest{Batch: followBatch, MaxBytes: followBytes, NoWait: true})
			if err != nil {
				return err
			}
			if len(messages) == 0 {
				if err := nothingFrom(ctx, f.conn, stream, nil, next, known); err != nil {
					return err
				}
				f.upTo(stream, asked)
				if pause.For(ctx, followStep) != nil {
					return nil
				}
				continue
			}
			b := &batch{}
			for _, m := range messages {
				delivery++
				if err := inOrder(m, delivery, stream); err != nil {
					return err
				}
				decode(b, m)
			}
			last := messages[len(messages)-1]
			if err := f.write(ctx, stream, b, messages[0].seq, last.seq); err != nil {
				return err
			}
			next = last.seq + 1
			f.upTo(stream, last.at)
		}
	})
}
