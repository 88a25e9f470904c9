package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// takeover makes a shard's machine from what is stored: its position, fenced against earlier owners,
// its jobs, and its deferred items. One goroutine uses it.
type takeover struct {
	*ownership
	standby    *standby // reads jobs ahead of time; nil: the node did not stand by
	jobs       *shardJobs
	ahead      <-chan struct{} // closed when there is no pass to wait for
	standstill string          // why the previous owner stopped deciding; "": it did not, or the reason is unknown
}

// close ends the reading of jobs.
func (t *takeover) close() {
	t.jobs.close()
	if t.standby != nil {
		t.standby.stop()
	}
}

// run returns the machine, which no batch of an earlier owner can contradict any more. ctx ends it,
// and so does the lease.
func (t *takeover) run(ctx context.Context) (*shard.Machine, error) {
	m, err := t.claim(ctx)
	if err == nil {
		err = t.load(ctx, m)
	}
	return m, err
}

// claim reads the cursor and writes it back under our epoch. From then on an
// earlier owner's batches are refused, so what is read next stays true.
func (t *takeover) claim(ctx context.Context) (*shard.Machine, error) {
	for {
		cursor, seq, err := t.s.readCursor(ctx, t.shard)
		if err != nil {
			return nil, err
		}
		m := shard.New(shard.Config{
			Tokens: t.s.conn.Tokens(), Traced: t.s.tracer != nil,
			Shard: t.shard, Shards: t.s.conn.Cluster().Shards, Partitions: t.s.conn.Cluster().Partitions, Epoch: t.held().Epoch, Node: t.s.cfg.Node, Planner: t.s.planner,
		}, cursor, seq)
		now := t.s.clock.wallOf(time.Now())
		batch := m.Claim(now.UnixMilli())
		lost, err := t.s.commits.commit(ctx, time.Time{}, []pending{{t.ownership, m, batch}})
		if err != nil {
			return nil, err
		}
		if len(lost) == 0 {
			return m, nil
		}
		// An earlier owner's last batch came in between. It is fenced out next time
		// round, unless we are the ones who are late.
		if t.failed.Load() {
			return nil, fmt.Errorf("%w: shard %d cannot store its cursor", job.ErrUnavailable, t.shard)
		}
		if !t.valid(time.Now()) {
			return nil, fmt.Errorf("%w: the lease ended before shard %d was claimed", job.ErrStale, t.shard)
		}
	}
}

// readCursor returns the shard's cursor and its sequence. A shard that never had one
// begins where the cluster was made; one whose cursor is gone, because the stream
// was, begins at its floor.
func (n *node) readCursor(ctx context.Context, number int) (*journal.Cursor, uint64, error) {
	m, err := n.conn.Last(ctx, n.conn.TrigOf(number), bus.SubjectCursor(number))
	if errors.Is(err, jet.ErrNoMessage) {
		floor, err := n.conn.Shards().Floor(ctx, number)
		if err != nil {
			return nil, 0, err
		}
		if floor == nil {
			floor = &journal.Cursor{Shard: number, Done: n.conn.Cluster().CreatedAt}
		}
		floor.Sweep, floor.Released = nil, nil
		return floor, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	cursor, err := journal.DecodeCursor(m.Header, m.Data)
	if err != nil {
		return nil, 0, fmt.Errorf("cursor of shard %d: %w", number, err)
	}
	return cursor, m.Seq, nil
}

// load reads the shard's jobs and deferred items into the machine.
func (t *takeover) load(ctx context.Context, m *shard.Machine) error {
	// Read before anything that follows from it: events up to here concern no one
	// unless a deferred item says so.
	events, err := t.s.conn.Info(ctx, t.s.conn.EvtOf(t.shard))
	if err != nil {
		return err
	}
	m.Events.Begin(events.Created.UTC(), events.State.LastSeq)
	if t.standby != nil {
		t.standby.stop()
	}
	select {
	case <-t.ahead:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := t.jobs.await(ctx); err != nil {
		return err
	}
	if err := t.jobs.read(ctx, m.BeginJobs(t.jobs.feed.created)); err != nil {
		return err
	}
	if err := t.jobs.passTo(m, nil, nil); err != nil {
		return err
	}
	if err := t.loadDeferred(ctx, m); err != nil {
		return err
	}
	if !m.NeedsEvents() {
		m.Events.Skip(events.State.LastSeq)
	}
	return nil
}

// loadDeferred tells the machine of the shard's deferred items, by the word of a leader that has our
// cursor: what is missing now is never looked for again, and a run in an item that is gone would begin
// once more.
func (t *takeover) loadDeferred(ctx context.Context, machine *shard.Machine) error {
	var bad error
	err := t.s.conn.Bulk().Read(ctx, jet.Reading{Stream: t.s.conn.TrigOf(t.shard), Filter: bus.SubjectDeferred(t.shard), Known: t.cursor.Load()}, func(m *jet.Stored) bool {
		bad = t.s.putDeferred(machine, m)
		return bad == nil
	})
	return errors.Join(err, bad)
}

// putDeferred tells a machine of a deferred item. One that only newer servers can read stays where it is.
func (n *node) putDeferred(machine *shard.Machine, m *jet.Stored) error {
	d, err := journal.DecodeDeferred(m.Header, m.Data)
	switch {
	case errors.Is(err, journal.ErrLaterItem):
		if machine.PassItem(m.Seq) {
			n.metrics.laterItems.Inc()
			n.log.Warn("deferred item left to newer servers", "shard", machine.Shard(), "seq", m.Seq, "error", err)
		}
		return nil
	case err == nil:
		err = machine.PutDeferred(d, m.Seq)
	}
	if err != nil {
		return fmt.Errorf("deferred item %d: %w", m.Seq, err)
	}
	return nil
}
