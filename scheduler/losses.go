package scheduler

import (
	"slices"
	"strconv"
	"strings"
)

// losses are shards that the node has lost and not logged yet. Those that are lost together, as when the
// node is cut off, are logged in one line.
type losses struct {
	shards  []int
	reasons []string
	err     error // the first one
	noted   int   // how many there were at the last call of takeLosses
}

// add adds a shard.
func (l *losses) add(shard int, reason string, err error) {
	l.shards = append(l.shards, shard)
	if !slices.Contains(l.reasons, reason) {
		l.reasons = append(l.reasons, reason)
	}
	if l.err == nil {
		l.err = err
	}
}

// ranges writes numbers in order, those that follow each other as a range: 0-3 7.
func ranges(numbers []int) string {
	numbers = slices.Compact(slices.Sorted(slices.Values(numbers)))
	var parts []string
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+n {
			n++
		}
		part := strconv.Itoa(numbers[0])
		if n > 1 {
			part += "-" + strconv.Itoa(numbers[n-1])
		}
		parts, numbers = append(parts, part), numbers[n:]
	}
	return strings.Join(parts, " ")
}
