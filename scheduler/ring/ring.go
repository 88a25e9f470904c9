package ring

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

const (
	// never is the instant of an id that is not armed. It is later than any
	// that can be armed, so an idle id is not due by any comparison.
	never = math.MaxInt64

	// latest bounds instants, so that sums with them cannot overflow.
	latest = int64(1) << 62
)

// Entry is an id that was due, with the instant at which it was.
type Entry struct {
	ID uint32
	At int64 // Unix milliseconds
}

// Ring orders ids by the instant at which they are due. Its memory is that of
// the largest id and of the most ids ever armed at once; none is given back, and
// none allocated while both stay the same. Not safe for concurrent use.
type Ring struct {
	at    []int64 // by id, never if not armed
	armed int
	pos   int64 // tick; no armed id waits in a list of earlier ticks

	// No id is armed before bound. While witness is armed at bound, it is the
	// earliest instant itself; otherwise NextAt looks for a better one.
	bound   int64
	witness uint32

	hints hints
}

// New returns an empty ring whose position is now, in Unix milliseconds. The
// position decides how much work later calls do, never what they return.
func New(now int64) *Ring {
	return &Ring{pos: tickOf(now), bound: never, hints: newHints()}
}

// Set arms id at the instant at, replacing an earlier one. An instant in the
// past is due at once; one later than 2^62 ms is taken as that. Ids index an
// array, so the caller hands out small ones and uses them again.
func (r *Ring) Set(id uint32, at int64) {
	at = min(at, latest)
	if int(id) >= len(r.at) {
		r.makeRoom(id)
	}
	old := r.at[id]
	r.at[id] = at
	if at < r.bound {
		r.bound, r.witness = at, id
	}
	list := listOf(r.pos, at)
	if old == never {
		r.armed++
	} else if listOf(r.pos, old) == list {
		return // the hint for the old instant serves the new one
	}
	r.hints.push(list, id)
	if r.hints.count > 2*len(r.at)+listCount {
		r.rebuild(r.pos)
	}
}

// Cancel disarms id. It does nothing if id is not armed.
func (r *Ring) Cancel(id uint32) {
	if int(id) < len(r.at) && r.at[id] != never {
		r.at[id] = never
		r.armed--
	}
}

// At returns the instant at which id is armed, and whether it is.
func (r *Ring) At(id uint32) (at int64, ok bool) {
	if int(id) >= len(r.at) || r.at[id] == never {
		return 0, false
	}
	return r.at[id], true
}

// Len returns how many ids are armed.
func (r *Ring) Len() int { return r.armed }

// NextAt returns the earliest instant at which an id is armed, and whether any
// is. It remembers the answer until the id it found is cancelled, moved or due.
func (r *Ring) NextAt() (at int64, ok bool) {
	if r.armed == 0 {
		r.bound = never
		return 0, false
	}
	if r.at[r.witness] == r.bound {
		return r.bound, true
	}
	for {
		// With an id armed there is a hint, so there is a list.
		list := r.hints.filled.first()
		if at, id := r.earliest(list); at != never {
			r.bound, r.witness = at, id
			return at, true
		}
		r.hints.drop(list)
	}
}

// Due disarms every id whose instant is not after now and appends them to due,
// ordered by instant; ids of one instant come in any order. A now before that of
// an earlier call is allowed, and finds what has since been armed up to it.
func (r *Ring) Due(now int64, due []Entry) []Entry {
	if r.armed == 0 || now < r.bound {
		return due
	}
	now = min(now, latest)
	if tickOf(now) < r.pos {
		// The clock stepped back. What was armed since then is all in the list
		// of the position, and would be read whole each time one of it is due.
		if next, _ := r.NextAt(); next > now {
			return due
		}
		r.rebuild(tickOf(now))
	}
	due = r.advance(now, due)
	r.bound = now + 1
	return due
}

// advance moves the position to now, list by list, handing over what is due.
func (r *Ring) advance(now int64, due []Entry) []Entry {
	target := tickOf(now)
	for {
		list := r.hints.filled.first()
		begin := begin(r.pos, target, list)
		if begin > target {
			r.pos = target
			return due
		}
		from := r.pos
		r.pos = begin
		if list >= nearCount {
			r.spread(list, from)
			continue
		}
		due = r.handOver(list, now, due)
		if begin == target {
			return due
		}
	}
}

// handOver disarms what is due in the near list of the position and appends it
// to due. What is due later within its tick stays.
func (r *Ring) handOver(list int, now int64, due []Entry) []Entry {
	end := (r.pos + 1) * tickMillis
	start, last, ordered := len(due), int64(math.MinInt64), true
	for id := range r.hints.take(list) {
		at := r.at[id]
		switch {
		case at >= end: // stale, or never
		case at > now:
			r.hints.push(list, id)
		default:
			r.at[id] = never
			r.armed--
			due = append(due, Entry{ID: id, At: at})
			ordered = ordered && at >= last
			last = at
		}
	}
	if !ordered {
		slices.SortFunc(due[start:], func(a, b Entry) int { return cmp.Compare(a.At, b.At) })
	}
	return due
}

// spread moves the ids of a far list, or of the one beyond, to the lists that
// they belong to now that the position is no longer from.
func (r *Ring) spread(list int, from int64) {
	for id := range r.hints.take(list) {
		if at := r.at[id]; at != never && listOf(from, at) == list {
			r.hints.push(listOf(r.pos, at), id)
		}
	}
}

// earliest returns the first instant of list and an id armed at it, or never if
// all of its hints are stale.
func (r *Ring) earliest(list int) (at int64, id uint32) {
	// Nothing can be earlier than floor, so finding it ends the search. Most
	// schedules fire on whole seconds, where a tick begins: of a herd one id is
	// enough, and the cache misses of the others are not paid for twice.
	floor := r.bound
	if tick := begin(r.pos, r.pos, list); tick > r.pos && list != beyond {
		floor = max(floor, tick*tickMillis)
	}
	at = never
	for i := range r.hints.all(list) {
		if t := r.at[i]; t < at && listOf(r.pos, t) == list {
			at, id = t, i
			if at == floor {
				break
			}
		}
	}
	return at, id
}

// rebuild makes all lists again, as seen from pos.
func (r *Ring) rebuild(pos int64) {
	r.pos = pos
	r.hints.clear()
	for id, at := range r.at {
		if at != never {
			r.hints.push(listOf(pos, at), uint32(id))
		}
	}
}

// makeRoom lengthens the array of instants to hold id.
func (r *Ring) makeRoom(id uint32) {
	n := len(r.at)
	r.at = slices.Grow(r.at, int(id)+1-n)[:int(id)+1]
	for i := n; i < len(r.at); i++ {
		r.at[i] = never
	}
}

const (
	tickMillis = 10

	nearBits  = 13
	nearCount = 1 << nearBits // ticks in a bucket, 81.92 s
	farBits   = 11
	farCount  = 1 << farBits // buckets in an epoch, 46.6 h

	epochBits = nearBits + farBits
	beyond    = nearCount + farCount // the last list
	listCount = beyond + 1
)

// tickOf returns the tick that instant ms is in. Instants before 1970 share the
// first tick.
func tickOf(ms int64) int64 { return max(ms, 0) / tickMillis }

// listOf returns the list that instant at belongs to, seen from the tick pos.
// Instants before pos belong to the list of pos itself.
func listOf(pos, at int64) int {
	tick := max(at/tickMillis, pos)
	// The highest bit in which the two differ tells how far apart they are.
	switch apart := tick ^ pos; {
	case apart < nearCount:
		return int(tick % nearCount)
	case apart < 1<<epochBits:
		return nearCount + int(tick>>nearBits%farCount)
	default:
		return beyond
	}
}

// begin returns the tick to which a position of pos moves in order to read list
// on the way to target. The list beyond is read when an epoch is entered, and
// then at once the target's own, so that a jump over many epochs reads it once;
// if there is none to enter, or no list (listCount), it begins at no tick.
func begin(pos, target int64, list int) int64 {
	switch {
	case list < nearCount:
		// What is armed before pos is in the list of pos, never in a lower one.
		return pos&^(nearCount-1) | int64(list)
	case list < beyond:
		return pos&^(1<<epochBits-1) | int64(list-nearCount)<<nearBits
	case list == beyond && target>>epochBits > pos>>epochBits:
		return target &^ (1<<epochBits - 1)
	default:
		return math.MaxInt64
	}
}

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
