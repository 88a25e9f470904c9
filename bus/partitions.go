package bus

import (
	"strconv"
	"strings"
)

// Partitions is how many partitions a cluster has: so many streams share its triggers, and so
// many its events. Zero counts as 1. Each shard belongs to one partition, with all its subjects.
type Partitions int

// MaxPartitions bounds how many partitions a cluster has.
const MaxPartitions = 16

// Count returns how many there are, 1 at least.
func (n Partitions) Count() int { return max(1, int(n)) }

// Of returns the partition of a shard.
func (n Partitions) Of(shard int) int { return shard % n.Count() }

// Trig returns the name of a partition's stream of triggers. That of the first is [StreamTrig].
func (n Partitions) Trig(partition int) string { return partitioned(StreamTrig, partition) }

// Evt returns the name of a partition's stream of events. That of the first is [StreamEvt].
func (n Partitions) Evt(partition int) string { return partitioned(StreamEvt, partition) }

// TrigOf returns the name of the stream that has a shard's triggers, cursor, deferred items,
// records and notices.
func (n Partitions) TrigOf(shard int) string { return n.Trig(n.Of(shard)) }

// EvtOf returns the name of the stream that has a shard's events, marks and barriers.
func (n Partitions) EvtOf(shard int) string { return n.Evt(n.Of(shard)) }

// Trigs returns the names of all streams of triggers, in the order of their partitions.
func (n Partitions) Trigs() []string { return n.all(StreamTrig) }

// Evts returns the names of all streams of events, in the order of their partitions.
func (n Partitions) Evts() []string { return n.all(StreamEvt) }

func (n Partitions) all(kind string) []string {
	names := make([]string, n.Count())
	for p := range names {
		names[p] = partitioned(kind, p)
	}
	return names
}

func partitioned(kind string, partition int) string {
	if partition == 0 {
		return kind
	}
	return kind + strconv.Itoa(partition)
}

// Position is where a message is. A sequence means nothing without its stream.
type Position struct {
	Stream string `json:"stream,omitempty"`
	Seq    uint64 `json:"seq"`
}

// Consumers returns the durable consumers of that name on all streams of triggers.
func (n Partitions) Consumers(name string) []Consumer {
	all := make([]Consumer, 0, n.Count())
	for _, stream := range n.Trigs() {
		all = append(all, Consumer{stream, name})
	}
	return all
}

// ParseStream returns the kind of a stream, [StreamTrig] or [StreamEvt], and its partition.
// It is not ok for any other stream.
func ParseStream(name string) (kind string, partition int, ok bool) {
	for _, kind := range []string{StreamTrig, StreamEvt} {
		number, ours := strings.CutPrefix(name, kind)
		if ours && number == "" {
			return kind, 0, true
		}
		if p, err := strconv.Atoi(number); ours && err == nil && p > 0 && p < MaxPartitions && partitioned(kind, p) == name {
			return kind, p, true
		}
	}
	return "", 0, false
}
