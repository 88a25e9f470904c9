package catalog

import (
	"encoding/json"
	"fmt"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Limits bounds the jobs of an executor group: every server keeps all jobs in memory, and the bucket
// of jobs has no limit of its own, so that jobs can always be paused.
type Limits struct {
	Jobs  int   // of a group
	Bytes int64 // of the JSON of their present versions together
}

// DefaultLimits are those of a server unless configured otherwise.
var DefaultLimits = Limits{Jobs: 10_000, Bytes: 64 << 20}

// holding is what a group has.
type holding struct {
	jobs  int
	bytes int64
}

// count adds a job to what its group has, or with -1 takes it off. The caller holds mu.
func (x *index) count(j *indexed, times int) {
	if j.deleted {
		return
	}
	group := j.name.Group()
	h := x.held[group]
	h.jobs += times
	h.bytes += int64(times * len(j.data))
	if x.held[group] = h; h.jobs == 0 {
		delete(x.held, group)
	}
}

// checkLimits returns an *InvalidError if saving wish in the place of was, which may be nil, would give
// its group more than it may have. An edit that makes a job no larger is always admitted. Saves
// at the same time may exceed a limit by as many.
func (c *Catalog) checkLimits(was *bus.JobEntry, wish job.Job) error {
	group := wish.Job.Group()
	c.index.mu.RLock()
	held := c.index.held[group]
	c.index.mu.RUnlock()
	if was == nil && held.jobs >= c.limits.Jobs {
		return &job.InvalidError{Field: "job", Reason: refusal.GroupHasJobs.With(group, held.jobs)}
	}
	next := job.Version{Job: wish}
	size, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encode job %s: %w", wish.Job, err)
	}
	more := int64(len(size))
	if was != nil {
		before, err := json.Marshal(job.Version{Job: was.Job})
		if err != nil {
			return fmt.Errorf("encode job %s: %w", wish.Job, err)
		}
		more -= int64(len(before))
	}
	if more > 0 && held.bytes+more > c.limits.Bytes {
		return &job.InvalidError{Field: "job", Reason: refusal.GroupHasDocuments.With(group, held.bytes+more, c.limits.Bytes)}
	}
	return nil
}
