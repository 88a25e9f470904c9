package bus

import (
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job"
)

// CalendarHistory is how many versions of a calendar are kept.
const CalendarHistory = 32

// HoldHistory is how many positions of each switch that pauses are kept.
const HoldHistory = 32

// JobEntry is a version of a job as the bucket holds it.
type JobEntry struct {
	job.Version
	// Revision changes with each edit; a change may be made conditional on it.
	Revision uint64
}

// JobHistory is how many versions of a job are kept.
const JobHistory = 32

// JobKey returns the key under which the bucket keeps the versions of a job of a shard.
func JobKey(shard int, name job.Name) string {
	return strconv.Itoa(shard) + "." + name.Group() + "." + name.Short()
}

// JobOfKey returns the job whose versions the bucket keeps under key.
func JobOfKey(key string) (job.Name, bool) {
	_, rest, ok := strings.Cut(key, ".")
	group, short, ok2 := strings.Cut(rest, ".")
	return job.Name(group + "/" + short), ok && ok2
}

// ShardOfKey returns the shard of the job whose versions the bucket keeps under key.
func ShardOfKey(key string) (int, bool) {
	shard, _, ok := strings.Cut(key, ".")
	n, err := strconv.Atoi(shard)
	return n, ok && err == nil
}
