package ring

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// model is the ring at its simplest: armed entries, ordered by instant and id.
type model []Entry

func byInstant(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID))
}

func (m *model) cancel(id uint32) {
	*m = slices.DeleteFunc(*m, func(e Entry) bool { return e.ID == id })
}

func (m *model) set(id uint32, at int64) {
	m.cancel(id)
	i, _ := slices.BinarySearchFunc(*m, Entry{id, at}, byInstant)
	*m = slices.Insert(*m, i, Entry{id, at})
}

func (m *model) due(now int64) []Entry {
	i, _ := slices.BinarySearchFunc(*m, now+1, func(e Entry, at int64) int { return cmp.Compare(e.At, at) })
	due := slices.Clone((*m)[:i])
	*m = (*m)[i:]
	return due
}

// steps are distances in time that land on, beside and far from the edges of
// ticks, buckets and epochs.
var steps = []int64{
	0, 1, 3, tickMillis, 7 * tickMillis, 1000, 60_000,
	bucketMillis, 3 * bucketMillis, 3_600_000, 86_400_000,
	epochMillis, 5 * epochMillis, 10 * 365 * 86_400_000, 199 * 365 * 86_400_000,
}

// play has a ring and the model go through the calls that script encodes, four
// bytes each, and compares all that they answer.
func play(t *testing.T, script []byte) {
	t.Helper()
	now := start
	r, m := New(now), model{}
	for ; len(script) >= 4; script = script[4:] {
		op, id := script[0], uint32(script[1]%64)
		step := steps[int(script[2])%len(steps)]
		switch script[3] % 8 {
		case 0: // before, on and after the edges that step leads to
			step += int64(script[3]>>3%3) - 1 - now%max(step, 1)
		case 1, 2:
			step = step * int64(script[3]>>3) / 32
		}
		switch {
		case op < 120:
			at := now + step
			if op < 12 {
				at = now - step
			}
			r.Set(id, at)
			m.set(id, at)
		case op < 160:
			r.Cancel(id)
			m.cancel(id)
		case op < 170:
			now -= step
		case op < 200:
			now += step
		case len(m) > 0:
			now = m[0].At + int64(op%3) - 1
		}
		if op >= 160 {
			got, want := r.Due(now, nil), m.due(now)
			if !slices.IsSortedFunc(got, func(a, b Entry) int { return cmp.Compare(a.At, b.At) }) {
				t.Fatalf("Due(%d) is out of order: %v", now, got)
			}
			slices.SortFunc(got, byInstant)
			if !slices.Equal(got, want) {
				t.Fatalf("Due(%d) (-want +got):\n%s", now, gocmp.Diff(want, got))
			}
		}
		compare(t, r, m, id)
		check(t, r)
		if now > latest/1000 || now < -latest/1000 {
			return
		}
	}
}

func compare(t *testing.T, r *Ring, m model, id uint32) {
	t.Helper()
	if r.Len() != len(m) {
		t.Fatalf("Len() = %d, want %d", r.Len(), len(m))
	}
	i := slices.IndexFunc(m, func(e Entry) bool { return e.ID == id })
	if at, ok := r.At(id); ok != (i >= 0) || ok && at != m[i].At {
		t.Fatalf("At(%d) = %d, %t, want one of %v", id, at, ok, m)
	}
	// Half of the time only, so that calls also meet a ring that has not looked.
	if id%2 == 0 {
		if at, ok := r.NextAt(); ok != (len(m) > 0) || ok && at != m[0].At {
			t.Fatalf("NextAt() = %d, %t, want the first of %v", at, ok, m)
		}
	}
}

// check verifies the rules that doc.go states, and that no block is lost.
func check(t *testing.T, r *Ring) {
	t.Helper()
	armed := 0
	lists := map[uint32][]int{}
	count, blocks := 0, 1
	for list := range listCount {
		n := 0
		for id := range r.hints.all(list) {
			lists[id] = append(lists[id], list)
			n++
		}
		if filled := r.hints.filled.words[list/64]>>(list%64)&1 == 1; filled != (n > 0) {
			t.Fatalf("list %d has %d hints, and filled says %t", list, n, filled)
		}
		count += n
		blocks += (n + blockLen - 1) / blockLen
	}
	for id, at := range r.at {
		if at == never {
			continue
		}
		armed++
		if list := listOf(r.pos, at); !slices.Contains(lists[uint32(id)], list) {
			t.Fatalf("id %d at %d has hints in lists %v, want one in %d (position %d)", id, at, lists[uint32(id)], list, r.pos)
		}
		if at < r.bound {
			t.Fatalf("id %d is armed at %d, before the bound %d", id, at, r.bound)
		}
	}
	for i := r.hints.free; i != 0; i = r.hints.blocks[i].next {
		blocks++
	}
	if armed != r.armed || count != r.hints.count || blocks != len(r.hints.blocks) {
		t.Fatalf("counted %d armed, %d hints, %d blocks, want %d, %d, %d",
			armed, count, blocks, r.armed, r.hints.count, len(r.hints.blocks))
	}
}

func TestTheRingAgreesWithASortedSlice(t *testing.T) {
	for seed := range uint64(50) {
		script := make([]byte, 4*300)
		random := rand.New(rand.NewPCG(seed, 0))
		for i := 0; i < len(script); i += 4 {
			binary.LittleEndian.PutUint32(script[i:], random.Uint32())
		}
		play(t, script)
	}
}

func FuzzTheRingAgreesWithASortedSlice(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 200, 1, 2, 3})
	f.Add([]byte{100, 1, 13, 8, 180, 0, 11, 0, 100, 1, 5, 9, 165, 0, 13, 1, 220, 0, 0, 0})
	f.Fuzz(play)
}
