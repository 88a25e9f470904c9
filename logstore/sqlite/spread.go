package sqlite

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

// A spread is how often something took how long: pairs of a step and a count, each an
// unsigned varint, in any order. Steps are those of a scale of 32 to each doubling of
// 1+ms, so two percent apart. Two spreads that stand one after the other are the spread
// of both; so SQL adds them up by putting them together, and nothing is read to write.
type spread []byte

// maxSpread is how long one may grow before it is compacted: a few times what it takes
// with every step in it.
const maxSpread = 16 << 10

func stepOf(ms int64) int { return min(int(math.Round(32*math.Log2(1+float64(max(ms, 0))))), lastStep) }

func millisOf(step int) int64 { return int64(math.Round(math.Exp2(float64(step)/32) - 1)) }

func (s spread) add(ms int64) spread {
	return binary.AppendUvarint(binary.AppendUvarint(s, uint64(stepOf(ms))), 1) //nolint:gosec // is not negative
}

// lastStep is that of 78 days: what took longer counts as that.
const lastStep = 1049

// pair is a step and how often it is there.
type pair struct {
	step int
	n    int64
}

// pairs returns the pairs as they stand, and how often something is there in all. What is
// not a spread counts as far as it is one.
func (s spread) pairs() (pairs []pair, total int64) {
	pairs = make([]pair, 0, len(s)/2)
	for len(s) > 0 {
		step, n := binary.Uvarint(s)
		if n <= 0 {
			break
		}
		count, m := binary.Uvarint(s[n:])
		if m <= 0 || step > lastStep || count > math.MaxInt32 {
			break
		}
		pairs = append(pairs, pair{int(step), int64(count)})
		total += int64(count)
		s = s[n+m:]
	}
	return pairs, total
}

// shortSpread is up to where compacting costs more than it saves.
const shortSpread = 32

// compact returns the same spread with each step once, unless it is short.
func (s spread) compact() spread {
	if len(s) == 0 {
		return spread{} // a column that has one is never NULL
	}
	if len(s) <= shortSpread {
		return s
	}
	var counts [lastStep + 1]int64
	pairs, _ := s.pairs()
	for _, p := range pairs {
		counts[p.step] += p.n
	}
	out := make(spread, 0, len(s))
	for step, n := range counts {
		if n > 0 {
			out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(step)), uint64(n))
		}
	}
	return out
}

// sorted returns pairs in the order of their steps. Nearly all spreads are of few pairs, a
// report has one of each job, and to go through all steps that there are for each took a
// fifth of it. Where there are more pairs than steps, sorting took that.
func sorted(pairs []pair) []pair {
	if len(pairs) <= lastStep {
		slices.SortFunc(pairs, func(a, b pair) int { return a.step - b.step })
		return pairs
	}
	var counts [lastStep + 1]int64
	for _, p := range pairs {
		counts[p.step] += p.n
	}
	pairs = pairs[:0]
	for step, n := range counts {
		if n > 0 {
			pairs = append(pairs, pair{step, n})
		}
	}
	return pairs
}

// summary returns what reports say of a spread.
func (s spread) summary() runlog.Spread {
	pairs, total := s.pairs()
	pairs = sorted(pairs)
	out := runlog.Spread{Count: int(total)}
	wanted := []struct {
		q    float64
		into *time.Duration
	}{{0.5, &out.P50}, {0.9, &out.P90}, {0.95, &out.P95}, {0.99, &out.P99}}
	var seen int64
	for _, p := range pairs {
		seen += p.n
		for len(wanted) > 0 && seen > min(int64(wanted[0].q*float64(total)), total-1) {
			*wanted[0].into = time.Duration(millisOf(p.step)) * time.Millisecond
			wanted = wanted[1:]
		}
	}
	return out
}
