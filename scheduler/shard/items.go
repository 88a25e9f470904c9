package shard

// item is a message of the machine's on TRIG that is to go one day: a deferred item,
// or the trigger of a run that it watches.
type item struct {
	seq  uint64 // 0: its batch is not known to be stored
	gone bool   // has had its effect
}

// items are the deferred items of the shard on the stream: which are known, and which have had
// their effect.
type items struct {
	last     uint64          // up to which they are known
	left     map[uint64]bool // sequences behind last, of ends of parents that this machine wrote itself
	due      []uint64        // sequences of those that the next batch releases
	released []uint64        // sequences that the cursor lists, not known to be deleted
	building *builder        // the batch that is being built; nil between two steps
}

// maxReleased is how many deferred items may wait to be deleted. The cursor lists them, and
// each batch writes it anew, so they must not grow without end.
const maxReleased = 10_000

// crowded reports whether nothing more may be decided until items are deleted.
func (is *items) crowded() bool { return len(is.released)+len(is.due) >= maxReleased }

// release marks an item as done once the next batch is stored. The owner
// deletes it after that; until then the cursor lists it, for a successor. An item of
// the batch that is being built is withdrawn from it.
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
	if f.left && seq > is.last {
		is.left[seq] = true
	}
}

// take returns the sequences for the cursor of the next batch to list: items that have had their
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
	left   bool // the end of a parent, for this shard
}
