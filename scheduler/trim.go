package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/journal"
)

const (
	// trimEvery is how often EVT is trimmed.
	trimEvery = 10 * time.Second
	// trimKeep is for how long events stay that every reader has read: whoever answers in
	// the place of the log store, and alerts, look back a while.
	trimKeep = time.Hour
)

// trimmer removes from the EVT of a partition what has been read. The owner of the first shard
// uses it.
type trimmer struct {
	of        bus.Partitions
	partition int
	keep      time.Duration // for how long events stay that every reader has read

	created time.Time   // of the EVT that ends is about
	ends    []streamEnd // oldest first, for keep
	ingest  uint64      // up to which the log store has the events
	alerted uint64      // up to which the alerter has looked at them
	shards  []uint64    // up to which each shard needs them no more; those of other partitions do not count
}

// streamEnd is the last sequence of EVT at an instant.
type streamEnd struct {
	at  time.Time
	seq uint64
}

// trimEvents removes from EVT the events that nobody is to read any more. EVT refuses new
// ones when it is full, so it must hold no more than what is unread.
//
// The log store's ingest and the owners of shards must have read an event before it goes.
// The alerter should have, and an hour should have passed, but neither may fill more than
// half of EVT: a reader that is stuck, or not there at all, stops nobody else. For the same
// reason a shard that does not move holds back its own events only, once half is full.
func (h *housekeeper) trimEvents(ctx context.Context) error {
	if !h.leads() {
		clear(h.trim) // another node does it
		return nil
	}
	var errs []error
	for p := range h.trim {
		h.trim[p].of, h.trim[p].partition, h.trim[p].keep = h.conn.Cluster().Partitions, p, h.keep
		errs = append(errs, h.trimPartition(ctx, &h.trim[p]))
	}
	return errors.Join(errs...)
}

func (h *housekeeper) trimPartition(ctx context.Context, t *trimmer) error {
	stream := t.of.Evt(t.partition)
	events, err := h.conn.Info(ctx, stream)
	if err != nil {
		return err
	}
	t.addEnd(events.Created, time.Now(), events.State.LastSeq)
	if events.State.Msgs == 0 {
		return nil
	}
	if err := h.readers(ctx, t); err != nil {
		return err
	}
	limit := uint64(max(events.Config.MaxBytes, 0))
	var errs []error
	for _, p := range t.plan(events.State.FirstSeq, limit > 0 && events.State.Bytes > limit/2) {
		errs = append(errs, h.conn.Events().Purge(ctx, stream, p.filter, p.upTo))
	}
	return errors.Join(errs...)
}

// purge is what is to be removed: messages on subjects that match filter, or all if it is
// empty, up to a sequence.
type purge struct {
	filter string
	upTo   uint64
}

// plan returns what is to be removed from an EVT that begins with first. It is crowded when
// more than half of it is full.
func (t *trimmer) plan(first uint64, crowded bool) (purges []purge) {
	must := t.read()
	upTo := must
	if !crowded {
		upTo = min(must, t.alerted, t.kept())
	}
	if upTo >= first {
		return []purge{{upTo: upTo}}
	}
	if crowded && t.ingest > must {
		// A shard that is stuck waits for hardly any end in a pack, and finds that such a run is over.
		purges = append(purges, purge{bus.SubjectEnds(t.partition, "*"), t.ingest})
	}
	for shard, seq := range t.shards {
		if upTo := min(seq, t.ingest); crowded && upTo > must && t.of.Of(shard) == t.partition {
			purges = append(purges, purge{fmt.Sprintf("evt.%d.*", shard), upTo})
		}
	}
	return purges
}

// readers reads how far the readers of EVT have come.
func (h *housekeeper) readers(ctx context.Context, t *trimmer) (err error) {
	stream := t.of.Evt(t.partition)
	if t.ingest, err = h.conn.Ingest().EventsMoved(ctx, stream); err != nil {
		return err
	}
	if t.alerted, err = h.conn.Events().Alerted(ctx, stream); err != nil {
		return err
	}
	// A shard whose cursor is not found may need all: a leader that was deposed may not have it.
	t.shards = make([]uint64, h.conn.Cluster().Shards)
	var bad error
	err = h.conn.Scan(ctx, t.of.Trig(t.partition), "cur.*", func(m *jet.Stored) bool {
		var c *journal.Cursor
		if c, bad = journal.DecodeCursor(m.Header, m.Data); bad != nil {
			return false
		}
		if c.Shard >= 0 && c.Shard < len(t.shards) {
			t.shards[c.Shard] = c.EventSeq
			if !c.EventsMade.Equal(t.created) {
				t.shards[c.Shard] = 0
			}
		}
		return true
	})
	return errors.Join(err, bad)
}

// addEnd records the last sequence of EVT at now.
func (t *trimmer) addEnd(made, now time.Time, last uint64) {
	if !t.created.Equal(made) {
		*t = trimmer{of: t.of, partition: t.partition, keep: t.keep, created: made}
	}
	t.ends = append(t.ends, streamEnd{now, last})
	for len(t.ends) > 1 && now.Sub(t.ends[1].at) >= t.keep {
		t.ends = t.ends[1:]
	}
}

// kept returns the sequence up to which events are older than keep for certain.
func (t *trimmer) kept() uint64 {
	if first := t.ends[0]; t.ends[len(t.ends)-1].at.Sub(first.at) >= t.keep {
		return first.seq
	}
	return 0
}

// read returns the sequence up to which every required reader has read.
func (t *trimmer) read() uint64 {
	least := t.ingest
	for shard, seq := range t.shards {
		if t.of.Of(shard) == t.partition {
			least = min(least, seq)
		}
	}
	return least
}
