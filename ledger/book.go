package ledger

import (
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
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
	// revision known, but for those that are unread: no owner of the shard could read them yet.
	decided int64
	known   uint64
	unread  []uint64
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
		version := v.Version
		if v.Unreadable != "" { // it has the job's defaults, and so no schedule
			version = job.Version{Job: job.Job{Job: name}.WithDefaults(), Version: v.Version.Version, EffectiveFrom: v.EffectiveFrom}
		}
		plan, err := planner.Plan(&version)
		if err != nil {
			continue
		}
		plan.Unreadable = v.Unreadable != ""
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
		plans, of := b.plans, i
		if p.Unreadable {
			if plans = b.stoodIn(i); plans == nil {
				continue
			}
			p, of = &plans[0], 0
		}
		if p.Kind == job.KindFixedDelay && end-from > windowFires*p.Delay {
			// Its fires are not known, but they cannot be closer together.
			return fires, from + windowFires*p.Delay
		}
		full := false
		plans.Fires(of, from+p.Offset, end+p.Offset, func(f job.Fire) bool {
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

// held reports whether no fire of plan i is decided, as no owner could read the version yet.
func (b *book) held(i int) bool { return slices.Contains(b.unread, b.revs[i]) }

// whyHeld says why nobody decides the fires of plan i; "": somebody does.
func (b *book) whyHeld(i int) string {
	switch held := b.held(i); {
	case b.plans[i].Unreadable && (held || b.revs[i] > b.known):
		return reason.VersionUnreadable.With(b.plans[i].Version)
	case held:
		return reason.VersionUnreadableThere.With(b.plans[i].Version)
	}
	return ""
}

// stoodIn returns the plan by whose schedule to tell of the fires of plan i, which cannot be read
// here: the last one before that can. It is nil when a newer program has decided them: then
// only the history knows when they are.
func (b *book) stoodIn(i int) job.History {
	if b.whyHeld(i) == "" {
		return nil
	}
	for k := i - 1; k >= 0; k-- {
		if p := b.plans[k]; !p.Unreadable {
			if p.Deleted {
				return nil
			}
			p.From = b.plans[i].From
			return job.History{p}
		}
	}
	return nil
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
