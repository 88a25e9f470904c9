package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// takeOver makes the shard's machine from what is stored: its position, fenced
// against earlier owners, its jobs, and its deferred items. ctx ends it, and so does
// the lease.
func (o *ownership) takeOver(ctx context.Context) error {
	if err := o.claim(ctx); err != nil {
		return err
	}
	return o.load(ctx)
}

// claim reads the cursor and writes it back under our epoch. From then on an
// earlier owner's batches are refused, so what is read next stays true.
func (o *ownership) claim(ctx context.Context) error {
	for {
		cursor, seq, err := o.s.readCursor(ctx, o.shard)
		if err != nil {
			return err
		}
		o.machine = shard.New(shard.Config{
			Tokens: o.s.conn.Tokens(), Traced: o.s.tracer != nil,
			Shard: o.shard, Shards: o.s.conn.Cluster().Shards, Partitions: o.s.conn.Cluster().Partitions, Epoch: o.held().Epoch, Node: o.s.cfg.Node, Planner: o.s.planner,
		}, cursor, seq)
		now := o.s.clock.wallOf(time.Now())
		batch := o.machine.Claim(now.UnixMilli())
		lost, err := o.s.commit(ctx, now, []pending{{o, batch}})
		if err != nil {
			return err
		}
		if len(lost) == 0 {
			return nil
		}
		// An earlier owner's last batch came in between. It is fenced out next time
		// round, unless we are the ones who are late.
		if o.failed.Load() {
			return fmt.Errorf("%w: shard %d cannot store its cursor", job.ErrUnavailable, o.shard)
		}
		if !o.valid(time.Now()) {
			return fmt.Errorf("%w: the lease ended before shard %d was claimed", job.ErrStale, o.shard)
		}
	}
}

// readCursor returns the shard's cursor and its sequence. A shard that never had one
// begins where the cluster was made; one whose cursor is gone, because the stream
// was, begins at its floor.
func (s *Scheduler) readCursor(ctx context.Context, n int) (*bus.Cursor, uint64, error) {
	m, err := s.conn.Last(ctx, s.conn.TrigOf(n), bus.SubjectCursor(n))
	if errors.Is(err, jet.ErrNoMessage) {
		floor, err := s.conn.Shards().Floor(ctx, n)
		if err != nil {
			return nil, 0, err
		}
		if floor == nil {
			floor = &bus.Cursor{Shard: n, Done: s.conn.Cluster().CreatedAt}
		}
		floor.Sweep, floor.Released = nil, nil
		return floor, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	cursor, err := bus.DecodeCursor(m.Header, m.Data)
	if err != nil {
		return nil, 0, fmt.Errorf("cursor of shard %d: %w", n, err)
	}
	return cursor, m.Seq, nil
}

// load reads the shard's jobs and deferred items into the machine.
func (o *ownership) load(ctx context.Context) error {
	// Read before anything that follows from it: events up to here concern no one
	// unless a deferred item says so.
	events, err := o.s.conn.Info(ctx, o.s.conn.EvtOf(o.shard))
	if err != nil {
		return err
	}
	o.machine.Events.Begin(events.Created.UTC(), events.State.LastSeq)
	if o.standby != nil {
		o.standby.stop()
	}
	select {
	case <-o.ahead:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := o.jobs.await(ctx); err != nil {
		return err
	}
	if err := o.jobs.read(ctx, o.machine.BeginJobs(o.jobs.feed.made)); err != nil {
		return err
	}
	o.jobs.give(o.machine, nil)
	if err := o.loadDeferred(ctx); err != nil {
		return err
	}
	if !o.machine.NeedsEvents() {
		o.machine.Events.Skip(events.State.LastSeq)
	}
	return nil
}

// loadDeferred tells the machine of the shard's deferred items, by the word of a leader that has our
// cursor: what is missing now is never looked for again, and a run in an item that is gone would begin
// once more.
func (o *ownership) loadDeferred(ctx context.Context) error {
	var bad error
	err := o.s.conn.Bulk().Read(ctx, jet.Reading{Stream: o.s.conn.TrigOf(o.shard), Filter: bus.SubjectDeferred(o.shard), Known: o.cursor.Load()}, func(m *jet.Stored) bool {
		bad = o.putDeferred(m)
		return bad == nil
	})
	return errors.Join(err, bad)
}

func (o *ownership) putDeferred(m *jet.Stored) error {
	d, err := bus.DecodeDeferred(m.Header, m.Data)
	if err == nil {
		err = o.machine.PutDeferred(d, m.Seq)
	}
	if err != nil {
		return fmt.Errorf("deferred item %d: %w", m.Seq, err)
	}
	return nil
}
