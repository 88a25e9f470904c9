package bus

import (
	"strconv"
	"strings"
)

// SubjectBarrier returns where barriers of a shard are written. A barrier is a message of EVT
// without content: an owner that reads the barrier it has written has read all events of its shard
// that were stored before, and a leader of EVT that has one has them. Executors cannot write there.
func SubjectBarrier(shard int) string { return "barrier." + strconv.Itoa(shard) }

// SubjectBarriers matches [SubjectBarrier] of all shards.
const SubjectBarriers = "barrier.*"

// IsBarrier reports whether a message of EVT is a barrier, which says something to the owner of
// its shard alone. All other readers pass over it.
func IsBarrier(subject string) bool { return strings.HasPrefix(subject, "barrier.") }

// ShardOfEvent returns the shard that a message of EVT is for: an event, or a barrier.
func ShardOfEvent(subject string) (int, bool) {
	_, rest, ok := strings.Cut(subject, ".")
	shard, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(shard)
	return n, ok && err == nil
}
