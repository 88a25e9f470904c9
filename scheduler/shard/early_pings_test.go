package shard

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestEarlyPingsComeInTheOrderOfTheirFiresAndThenAsTheyCame(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var es earlyPings
		var naive []*earlyPing
		jobs := []*watch{{}, {}, {}}
		for range 100 {
			if len(naive) > 0 && rng.IntN(3) == 0 {
				i := rng.IntN(len(naive))
				es.remove(naive[i])
				naive = slices.Delete(naive, i, i+1)
			} else {
				p := &earlyPing{fire: rng.Int64N(10)}
				es.add(jobs[rng.IntN(len(jobs))], p)
				naive = append(naive, p)
			}
			for _, w := range jobs {
				of := slices.DeleteFunc(slices.Clone(naive), func(p *earlyPing) bool { return p.of != w })
				if !slices.Equal(of, w.early) {
					t.Fatalf("history %d: a job has %d early pings, want %d", seed, len(w.early), len(of))
				}
			}
		}
		slices.SortStableFunc(naive, func(a, b *earlyPing) int { return cmp.Compare(a.fire, b.fire) })
		for _, want := range naive {
			if got := es.first(); got != want {
				t.Fatalf("history %d: the next is of fire %d, want %d", seed, got.fire, want.fire)
			}
			es.remove(want)
		}
		if es.first() != nil {
			t.Fatalf("history %d: one is left", seed)
		}
	}
}

// BenchmarkEarlyPings reports how many times as long it takes to keep an early ping, count those of its job and take it
// out beside 100,000 others as beside 10.
func BenchmarkEarlyPings(b *testing.B) {
	const rounds = 10_000
	fill := func(n int) *earlyPings {
		es := &earlyPings{}
		for i := range n {
			es.add(&watch{}, &earlyPing{fire: int64(i) * 7919 % int64(n)})
		}
		return es
	}
	few, many := fill(10), fill(100_000)
	turn := func(es *earlyPings) time.Duration {
		w := &watch{}
		began := time.Now()
		for i := range rounds {
			p := &earlyPing{fire: es.heap[i%len(es.heap)].fire}
			if es.add(w, p); len(w.early) > maxEarly {
				b.Fatal("others are counted")
			}
			es.remove(p)
		}
		return time.Since(began)
	}
	var ofFew, ofMany time.Duration
	for b.Loop() {
		ofFew += turn(few)
		ofMany += turn(many)
	}
	b.ReportMetric(float64(ofMany)/float64(ofFew), "x")
	b.ReportMetric(float64(ofMany.Nanoseconds())/rounds/float64(b.N), "ns/ping")
}
