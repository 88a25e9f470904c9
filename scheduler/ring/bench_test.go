package ring

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

const benchIDs = 1_000_000

// A timeline is what the benchmarks drive: the ring, or the heap it replaces.
type timeline interface {
	Set(id uint32, at int64)
	Due(now int64, due []Entry) []Entry
	NextAt() (at int64, ok bool)
}

// BenchmarkFire is the life of a shard: wait for the next instant, take what is
// due, arm it again a period later.
func BenchmarkFire(b *testing.B) {
	const minute, hour = 60_000, 3_600_000
	anyMillisecond := rand.Int64N
	wholeSecond := func(period int64) int64 { return rand.Int64N(period/1000) * 1000 }
	newRing := func() timeline { return New(start) }
	newHeap := func() timeline { return &heap{} }

	b.Run("hour", func(b *testing.B) { fire(b, newRing, hour, anyMillisecond) })
	b.Run("hour/seconds", func(b *testing.B) { fire(b, newRing, hour, wholeSecond) })
	b.Run("minute/seconds", func(b *testing.B) { fire(b, newRing, minute, wholeSecond) })
	b.Run("heap/hour", func(b *testing.B) { fire(b, newHeap, hour, anyMillisecond) })
	b.Run("heap/hour/seconds", func(b *testing.B) { fire(b, newHeap, hour, wholeSecond) })
	b.Run("heap/minute/seconds", func(b *testing.B) { fire(b, newHeap, minute, wholeSecond) })
}

func fire(b *testing.B, open func() timeline, period int64, phase func(period int64) int64) {
	b.Helper()
	before := heapBytes()
	line := open()
	second := start - start%1000
	for id := range uint32(benchIDs) {
		line.Set(id, second+phase(period))
	}
	bytes := float64(heapBytes()-before) / benchIDs

	var due []Entry
	turn := func() int {
		now, _ := line.NextAt()
		due = line.Due(now, due[:0])
		for _, e := range due {
			line.Set(e.ID, e.At+period)
		}
		return len(due)
	}
	for fired := 0; fired < benchIDs; { // one period, so that memory has settled
		fired += turn()
	}
	b.ReportAllocs()
	fired := 0
	for b.Loop() {
		fired += turn()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(fired), "ns/fire")
	b.ReportMetric(bytes, "B/id")
	runtime.KeepAlive(line)
}

// BenchmarkFireInShards is BenchmarkFire with the ids of a process in the 64
// rings that it has, each woken once in 10 ms.
func BenchmarkFireInShards(b *testing.B) {
	b.Run("milliseconds", func(b *testing.B) { fireInShards(b, 1) })
	b.Run("seconds", func(b *testing.B) { fireInShards(b, 1000) })
}

func fireInShards(b *testing.B, grid int64) {
	b.Helper()
	const shards, period = 64, 60_000
	before := heapBytes()
	now := start - start%1000
	var rings [shards]*Ring
	for i := range rings {
		rings[i] = New(now)
	}
	for i := range benchIDs {
		rings[i%shards].Set(uint32(i/shards), now+rand.Int64N(period/grid)*grid)
	}
	bytes := float64(heapBytes()-before) / benchIDs

	var due []Entry
	fired := 0
	for b.Loop() {
		now += 10
		for _, r := range rings {
			due = r.Due(now, due[:0])
			for _, e := range due {
				r.Set(e.ID, e.At+period)
			}
			fired += len(due)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(fired), "ns/fire")
	b.ReportMetric(bytes, "B/id")
	runtime.KeepAlive(&rings)
}

// BenchmarkHerd hands over 100,000 ids that are due in one instant, an hour away
// when they were armed.
func BenchmarkHerd(b *testing.B) {
	const herd = 100_000
	r := New(start)
	due := make([]Entry, 0, herd)
	at := start
	var handOver time.Duration
	for b.Loop() {
		at += 3_600_000
		for id := range uint32(herd) {
			r.Set(id, at)
		}
		from := time.Now()
		r.Due(at-10, due[:0])
		if due = r.Due(at, due[:0]); len(due) != herd {
			b.Fatalf("%d due, want %d", len(due), herd)
		}
		handOver += time.Since(from)
	}
	b.ReportMetric(float64(handOver.Microseconds())/float64(b.N), "us/hand-over")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/herd, "ns/fire")
}

// BenchmarkJump moves a ring with one id ten years ahead, and back.
func BenchmarkJump(b *testing.B) {
	const decade = 10 * 365 * 86_400_000
	r := New(start)
	due := make([]Entry, 0, 1)
	for b.Loop() {
		r.Set(1, start+decade-1)
		if due = r.Due(start+decade, due[:0]); len(due) != 1 {
			b.Fatal("nothing due after ten years")
		}
		r.Set(1, start)
		if due = r.Due(start, due[:0]); len(due) != 1 {
			b.Fatal("nothing due back at the start")
		}
	}
}

func BenchmarkEmptyRing(b *testing.B) {
	const rings = 64
	before := heapBytes()
	keep := make([]*Ring, rings)
	for b.Loop() {
		for i := range keep {
			keep[i] = New(start)
		}
	}
	b.ReportMetric(float64(heapBytes()-before)/rings, "B/ring")
	runtime.KeepAlive(keep)
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// heap is the usual binary heap of entries; it can do no more than the benchmark
// asks of it.
type heap struct{ entries []Entry }

func (h *heap) Set(id uint32, at int64) {
	h.entries = append(h.entries, Entry{id, at})
	for i := len(h.entries) - 1; i > 0; {
		parent := (i - 1) / 2
		if h.entries[parent].At <= at {
			break
		}
		h.entries[i], h.entries[parent] = h.entries[parent], h.entries[i]
		i = parent
	}
}

func (h *heap) Due(now int64, due []Entry) []Entry {
	for len(h.entries) > 0 && h.entries[0].At <= now {
		due = append(due, h.entries[0])
		last := len(h.entries) - 1
		h.entries[0] = h.entries[last]
		h.entries = h.entries[:last]
		h.sink()
	}
	return due
}

func (h *heap) NextAt() (at int64, ok bool) {
	if len(h.entries) == 0 {
		return 0, false
	}
	return h.entries[0].At, true
}

func (h *heap) sink() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h.entries) {
			return
		}
		if child+1 < len(h.entries) && h.entries[child+1].At < h.entries[child].At {
			child++
		}
		if h.entries[i].At <= h.entries[child].At {
			return
		}
		h.entries[i], h.entries[child] = h.entries[child], h.entries[i]
		i = child
	}
}
