package shard

import (
	"slices"

	"github.com/carillon-scheduler/carillon/bus"
)

// item is a message of the machine's on TRIG that is to go one day: a deferred item,
// or the trigger of a run that it watches.
type item struct {
	seq  uint64 // 0: its batch is not known to be stored
	gone bool   // has had its effect
}

// items are the deferred items of the shard on the stream: which are known, and which have had
// their effect.
type items struct {
	looked   uint64          // up to which they are known
	left     map[uint64]bool // sequences behind looked, of parents' ends that this machine has left itself
	due      []uint64        // sequences of those that the next batch releases
	released []uint64        // sequences that the cursor lists, not known to be deleted
	building *builder        // the batch that is being built; nil between two steps
}

// maxReleased is how many deferred items may wait to be deleted. The cursor lists them, and
// each batch writes it anew, so they must not grow without end.
const maxReleased = 10_000

// crowded reports whether nothing more may be decided until items are deleted.
func (is *items) crowded() bool { return len(is.released)+len(is.due) >= maxReleased }

// release says that an item has had its effect, with the next batch. Its owner
// deletes it after that; until then the cursor lists it, for a successor. An item of
// the batch that is being built never comes to be.
func (is *items) release(i *item) {
	switch {
	case i == nil || i.gone:
		return
	case i.seq != 0:
		is.due = append(is.due, i.seq)
	case is.building != nil:
		is.building.withdraw(i)
	}
	i.gone = true
}

// stored enters at which sequence an item of a batch is stored. One that had its effect while the
// batch was under way is released now.
func (is *items) stored(f flightItem, seq uint64) {
	f.seq = seq
	if f.gone {
		is.due = append(is.due, seq)
	}
	if f.left && seq > is.looked {
		is.left[seq] = true
	}
}

// take returns the sequences that the cursor of the next batch lists, all of which have had their
// effect once it is stored.
func (is *items) take() []uint64 {
	released := append(append([]uint64(nil), is.released...), is.due...)
	is.due = nil
	return released
}

// deleted drops items that are deleted from those that the cursor lists.
func (is *items) deleted(seqs map[uint64]bool) {
	kept := is.released[:0:0]
	for _, seq := range is.released {
		if !seqs[seq] {
			kept = append(kept, seq)
		}
	}
	is.released = kept
}

// flightItem is an item of a batch, at an offset from its first message.
type flightItem struct {
	*item
	offset int
	left   bool // word of a parent, for this shard
}

// place makes the message that is appended next an item of the machine's.
func (b *builder) place() *item {
	i := &item{}
	b.placed = append(b.placed, flightItem{item: i, offset: len(b.messages) + 1})
	return i
}

// withdraw takes an item's message out of the batch, which keeps its place until then.
func (b *builder) withdraw(i *item) {
	at := slices.IndexFunc(b.placed, func(f flightItem) bool { return f.item == i })
	b.messages[b.placed[at].offset-1] = nil
	b.placed = slices.Delete(b.placed, at, at+1)
}

// compact closes the gaps that withdrawn messages have left.
func (b *builder) compact() {
	shift := make([]int, len(b.messages)+1) // of the offsets
	kept := b.messages[:0]
	gaps := 0
	for k, msg := range b.messages {
		if msg == nil {
			gaps++
		} else {
			kept = append(kept, msg)
		}
		shift[k+1] = gaps
	}
	b.messages = kept
	for k := range b.placed {
		b.placed[k].offset -= shift[b.placed[k].offset]
	}
}

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
	if m.cursor.flight != nil {
		m.cfg.bug("told of a deferred item while a batch is under way")
	}
	if seq <= m.items.looked {
		return nil
	}
	m.items.looked = seq
	ours := !m.versions.loading && d.Kind != bus.DeferredChild
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
		m.children.restore(d, &item{seq: seq})
		return nil
	case bus.DeferredWord:
		m.Relay.keep(d, &item{seq: seq})
		return nil
	case bus.DeferredAsked:
		m.Requests.restore(d, seq)
		return nil
	}
	id, ok := m.jobs.find(d.Job)
	if !ok {
		m.items.due = append(m.items.due, seq)
		return nil
	}
	switch d.Kind {
	case bus.DeferredEnd:
		m.delays.restore(id, &delay{item: &item{seq: seq}, run: d.RunID})
	case bus.DeferredDelay:
		m.delays.restore(id, &delay{item: &item{seq: seq}, since: d.Since.UnixMilli()})
	case bus.DeferredAlive, bus.DeferredQueued, bus.DeferredRetry, bus.DeferredPieces:
		return m.runs.restore(id, d, seq)
	case bus.DeferredFailures, bus.DeferredPause:
		m.Failures.restore(id, d, seq)
	case bus.DeferredSucceeded:
		m.runs.restoreSuccess(id, d.RunID, seq)
	case bus.DeferredBackfill, bus.DeferredBackfilled:
		m.Backfills.restore(id, d, seq)
	case bus.DeferredChild, bus.DeferredWord, bus.DeferredAsked: // above
	}
	return nil
}

// Looked returns the sequence up to which the shard's deferred items are known.
func (m *Machine) Looked() uint64 { return m.items.looked }

// restore enters what a fixed-delay job waits for.
func (ds *delays) restore(id uint32, d *delay) {
	ds.replace(id, d)
	if !ds.jobs.at(id).isFixedDelay() && !ds.jobs.at(id).newest().Unreadable {
		ds.drop(id)
	}
	ds.arm(id)
}
