package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
)

// PutDeferred tells of a deferred item that was found on the stream at seq. All are
// told before the first Step, after the jobs and in the order of their sequences. Later the owner tells of those behind [Machine.Looked], in order again:
// other shards leave word of parents there. It does so while no batch is under way, as
// what is its own is known only then. The error says that the item is not one that a
// machine wrote.
//
// An item that nobody needs any more is released: where a fixed-delay job has
// several, because the owner died before it could release the earlier ones, the last
// one holds.
func (m *Machine) PutDeferred(d *bus.Deferred, seq uint64) error {
	if m.flight != nil {
		m.bug("told of a deferred item while a batch is under way")
	}
	if seq <= m.items.looked {
		return nil
	}
	m.items.looked = seq
	ours := !m.loading && d.Kind != bus.DeferredChild
	for known := range m.items.left {
		ours = ours || known == seq
		if known <= seq {
			delete(m.items.left, known)
		}
	}
	if ours || slices.Contains(m.items.released, seq) {
		return nil
	}
	switch d.Kind { //nolint:exhaustive // the others are about a job of the shard
	case bus.DeferredChild:
		m.runs.arrived = append(m.runs.arrived, &arrival{ParentEnd: d.Parent, child: d.Job, item: &item{seq: seq}})
		return nil
	case bus.DeferredAsked:
		m.restoreAsked(d, seq)
		return nil
	}
	id, ok := m.byName[d.Job]
	if !ok {
		m.items.release = append(m.items.release, seq)
		return nil
	}
	switch d.Kind {
	case bus.DeferredEnd:
		m.restoreDelay(id, &delay{item: &item{seq: seq}, run: d.RunID})
	case bus.DeferredDelay:
		m.restoreDelay(id, &delay{item: &item{seq: seq}, since: d.Since.UnixMilli()})
	case bus.DeferredAlive, bus.DeferredQueued, bus.DeferredRetry, bus.DeferredPieces:
		return m.restore(id, d, seq)
	case bus.DeferredFailures:
		books := m.runsOf(id)
		m.releaseItem(books.failuresItem)
		books.failures, books.failuresItem = d.Count, &item{seq: seq}
		m.wake(id)
	case bus.DeferredPause:
		m.runs.pauses = append(m.runs.pauses, &Pause{Job: d.Job, Version: d.Version, Reason: d.Reason, item: &item{seq: seq}})
	case bus.DeferredBackfill, bus.DeferredBackfilled:
		m.restoreBackfill(id, d, seq)
	case bus.DeferredChild, bus.DeferredAsked: // above
	}
	return nil
}

// Looked returns the sequence up to which the shard's deferred items are known.
func (m *Machine) Looked() uint64 { return m.items.looked }

// restoreDelay enters what a fixed-delay job waits for.
func (m *Machine) restoreDelay(id uint32, d *delay) {
	m.replaceDelay(id, d)
	if !m.hasDelay(id) && !m.jobs[id].newest().Unreadable {
		m.dropDelay(id)
	}
	m.arm(id)
}
