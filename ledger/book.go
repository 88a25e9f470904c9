package ledger

import (
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

const (
	// EdgeTolerance is how long after an edit of a fixed-delay job a fire of which nothing
	// is known is not judged.
	EdgeTolerance = 15 * time.Second
	// DelayTolerance is how long a fixed-delay job may be silent beyond its delay.
	DelayTolerance = time.Minute
)

// windowFires bounds the fires, and so the memory, that are looked at together.
const windowFires = 1000

// book is when a job had to fire, and how far that can be told. It is pure: instants
// are Unix milliseconds.
type book struct {
	name  job.Name
	plans job.History
	revs  []uint64 // of the plans, in JOBS
	// decided is up to where fires that were due are decided, for versions up to the
	// revision known.
	decided int64
	known   uint64
	// since is where the history begins. Until ingested is true, fires of which it knows
	// nothing may be in records that it does not have yet.
	since    int64
	ingested bool
}

// newBook takes in a job's versions, oldest first. One that cannot be computed any more
// is left out, as the scheduler does.
func newBook(planner *job.Planner, name job.Name, versions []*bus.JobEntry) *book {
	b := &book{name: name}
	for _, v := range versions {
		plan, err := planner.Plan(&v.Version)
		if err != nil {
			continue
		}
		b.plans = append(b.plans, plan)
		b.revs = append(b.revs, v.Revision)
	}
	return b
}

// ends returns the last instant whose fires belong to plan i.
func (b *book) ends(i int) int64 {
	if i+1 < len(b.plans) {
		return b.plans[i+1].From
	}
	return endOfTime
}

const endOfTime = int64(1) << 62

// beginAfter has plan i begin no earlier than after the given instant, and those that
// follow it too.
func (b *book) beginAfter(i int, after int64) {
	for ; i < len(b.plans); i++ {
		b.plans[i].From = max(b.plans[i].From, after)
	}
}

// expected is a fire of a plan.
type expected struct {
	job.Fire
	plan int
}

// fires returns the fires at instants in (after, upto], oldest first, as many as are
// looked at together, and the instant up to which these are all.
func (b *book) fires(after, upto int64) (fires []expected, all int64) {
	for i := range b.plans {
		p := &b.plans[i]
		from, end := max(after, p.From), min(upto, b.ends(i))
		if from >= end || p.Deleted {
			continue
		}
		if p.Kind == job.KindFixedDelay && end-from > windowFires*p.Delay {
			// Its fires are not known, but they cannot be closer together.
			return fires, from + windowFires*p.Delay
		}
		full := false
		b.plans.Fires(i, from+p.Offset, end+p.Offset, func(f job.Fire) bool {
			fires = append(fires, expected{f, i})
			full = len(fires) == windowFires
			return !full
		})
		if full {
			return fires, fires[len(fires)-1].At
		}
	}
	return fires, upto
}

// index returns which plan is a version, or -1.
func (b *book) index(version int) int {
	for i := range b.plans {
		if int(b.plans[i].Version) == version {
			return i
		}
	}
	return -1
}
