package shard

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/journal"
)

// cursorState is what is stored of the machine.
type cursorState struct {
	seq     uint64  // of the cursor that this machine wrote or read; 0: there is none
	stored  int64   // the position in time that it has
	commits int     // batches made, to name the next
	flight  *flight // what the batch under way will have done; nil: there is none
}

// flight is what takes effect in the machine once the batch under way is stored.
type flight struct {
	stored   int64
	released []uint64
	items    []flightItem
	asked    []Asked
}

// Claim returns a batch that only writes the cursor, where it is. The first batch of
// an owner: once it is stored, no earlier owner can commit, so what the new one
// reads next stays true.
func (m *Machine) Claim(now int64) *Batch {
	m.Relay.begin(now)
	return m.seal(newBuilder(&m.cfg, &m.items, m.Cluster, now, bus.MaxBatch))
}

// seal makes the batch, with the cursor first and the record last.
func (m *Machine) seal(b *builder) *Batch {
	m.items.building = nil
	b.compact()
	m.cursor.commits++
	commit := strconv.FormatUint(m.cfg.Epoch, 36) + "." + strconv.Itoa(m.cursor.commits)
	cursor := &journal.Cursor{Shard: m.cfg.Shard, Epoch: m.cfg.Epoch, Node: m.cfg.Node, Commit: commit, Released: m.items.take()}
	m.sweep.save(cursor)
	m.versions.save(cursor)
	m.fires.moved.save(cursor)
	m.Relay.save(cursor)
	m.Events.save(cursor)
	first, err := cursor.Msg()
	if err != nil {
		m.cfg.bug("%v", err)
	}
	bus.Rollup(first)
	bus.ExpectLast(first, m.cursor.seq)
	messages := make([]*nats.Msg, 0, len(b.messages)+overhead)
	messages = append(messages, first)
	messages = append(messages, b.messages...)
	if !b.record.empty() {
		record := &journal.Record{
			Shard: m.cfg.Shard, Epoch: m.cfg.Epoch, Commit: commit, Node: m.cfg.Node, At: b.now, Outcomes: b.record.outcomes,
		}
		notice, err := record.Notice()
		if err != nil {
			m.cfg.bug("%v", err)
		}
		if notice != nil {
			messages = append(messages, notice)
		}
		last, err := record.Msg()
		if err != nil {
			m.cfg.bug("%v", err)
		}
		messages = append(messages, last)
	}
	m.cursor.flight = &flight{stored: m.sweep.done, released: cursor.Released, items: b.placed, asked: b.Asked}
	batch := b.Batch
	batch.Shard, batch.Commit, batch.Messages, batch.Nudges = m.cfg.Shard, commit, messages, slices.Sorted(maps.Keys(b.nudges))
	return &batch
}

// Committed reports that the batch is stored, its first message at sequence first.
func (m *Machine) Committed(first uint64) {
	f := m.cursor.flight
	if f == nil {
		m.cfg.bug("committed without a batch")
	}
	m.cursor.flight = nil
	m.cursor.seq = first
	m.cursor.stored = f.stored
	m.items.released = f.released
	m.Requests.committed(f.asked)
	for _, i := range f.items {
		m.items.stored(i, first+uint64(i.offset)) //nolint:gosec // an index is not negative
	}
}

// Released returns the sequences of deferred items that have had their effect, as
// stored. The owner deletes them and says so with [Machine.Deleted]. While there are too
// many, nothing is due, and Step returns nil.
func (m *Machine) Released() []uint64 { return m.items.released }

// Deleted reports that deferred items are deleted, so that the cursor need not list
// them any more.
func (m *Machine) Deleted(seqs map[uint64]bool) {
	m.items.deleted(seqs)
	for seq := range seqs {
		delete(m.Relay.delivered, seq)
	}
}

// String tells the position, for logs.
func (m *Machine) String() string {
	return fmt.Sprintf("shard %d at %s", m.cfg.Shard, instant(m.sweep.done).Format(time.RFC3339Nano))
}
