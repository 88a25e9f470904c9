package ring

import "iter"

// hints holds listCount lists of ids. A list is a chain of small blocks from one pool.
// Only its first block may have room left. So no list keeps memory that another could
// use, a long list is read almost in sequence, and there is no pointer for the garbage
// collector to follow.
type hints struct {
	heads  [listCount]uint32 // of a list's first block: its index * 16 + ids in it; 0 if empty
	filled bitmap            // lists that are not empty
	blocks []block           // the first is never used, so that 0 means none
	free   uint32            // index of the first unused block; they are chained by next
	count  int               // ids in all lists
}

// blockLen makes a block a cache line of 64 bytes, and the number of ids in one
// fit the low bits of a head.
const (
	blockLen  = 15
	countBits = 4
	countMask = 1<<countBits - 1
)

type block struct {
	next uint32 // as in heads; the index alone in an unused block
	ids  [blockLen]uint32
}

func newHints() hints { return hints{blocks: make([]block, 1)} }

// push adds id to list.
func (h *hints) push(list int, id uint32) {
	head := h.heads[list]
	n := head & countMask
	if n == 0 || n == blockLen {
		if n == 0 {
			h.filled.set(list)
		}
		head, n = h.newBlock(head)<<countBits, 0
	}
	h.blocks[head>>countBits].ids[n] = id
	h.heads[list] = head + 1
	h.count++
}

// newBlock returns the index of an empty block in front of next.
func (h *hints) newBlock(next uint32) uint32 {
	i := h.free
	if i == 0 {
		h.blocks = append(h.blocks, block{next: next})
		return uint32(len(h.blocks) - 1) //nolint:gosec // a head has 28 bits for it: 16 GiB of blocks
	}
	h.free = h.blocks[i].next
	h.blocks[i].next = next
	return i
}

// all yields the ids in list, the newest blocks first. The list must not change
// meanwhile.
func (h *hints) all(list int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for head := h.heads[list]; head != 0; {
			b := &h.blocks[head>>countBits]
			for _, id := range b.ids[:head&countMask] {
				if !yield(id) {
					return
				}
			}
			head = b.next
		}
	}
}

// take empties list and yields the ids that were in it; the loop must run to the
// end. Blocks are freed before their ids are seen, so pushing these back, to this
// list or others, needs no more than was there.
func (h *hints) take(list int) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		head := h.heads[list]
		h.heads[list] = 0
		h.filled.clear(list)
		for head != 0 {
			i, n := head>>countBits, head&countMask
			b := h.blocks[i]
			h.blocks[i].next = h.free
			h.free = i
			h.count -= int(n)
			for _, id := range b.ids[:n] {
				if !yield(id) {
					return
				}
			}
			head = b.next
		}
	}
}

// drop empties list.
func (h *hints) drop(list int) {
	for range h.take(list) { // taking is all there is to do
	}
}

// clear empties all lists and keeps the memory.
func (h *hints) clear() {
	clear(h.heads[:])
	h.filled = bitmap{}
	h.blocks = h.blocks[:1]
	h.free = 0
	h.count = 0
}
