package shard

import "slices"

// item is a message of the machine's on TRIG that is to go one day: a deferred item,
// or the trigger of a run that it watches.
type item struct {
	seq  uint64 // 0: its batch is not known to be stored
	gone bool   // has had its effect
}

// releaseItem says that an item has had its effect, with the next batch. Its owner
// deletes it after that; until then the cursor lists it, for a successor. An item of
// the batch that is being built never comes to be.
func (m *Machine) releaseItem(i *item) {
	switch {
	case i == nil || i.gone:
		return
	case i.seq != 0:
		m.items.release = append(m.items.release, i.seq)
	case m.building != nil:
		m.building.withdraw(i)
	}
	i.gone = true
}

// placed says at which sequence an item is stored. One that had its effect while its
// batch was under way is released now.
func (m *Machine) placed(i *item, seq uint64) {
	i.seq = seq
	if i.gone {
		m.items.release = append(m.items.release, seq)
	}
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
	b.items = append(b.items, flightItem{item: i, offset: len(b.messages) + 1})
	return i
}

// withdraw takes an item's message out of the batch, which keeps its place until then.
func (b *builder) withdraw(i *item) {
	at := slices.IndexFunc(b.items, func(f flightItem) bool { return f.item == i })
	b.messages[b.items[at].offset-1] = nil
	b.items = slices.Delete(b.items, at, at+1)
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
	for k := range b.items {
		b.items[k].offset -= shift[b.items[k].offset]
	}
}
