package shard

import (
	"cmp"
	"slices"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/journal"
)

// movedFires are the last fires of jobs whose calendars have moved these to another day. Calendars
// change, so that they cannot be computed again.
type movedFires struct {
	at    map[job.Name]int64 // fire times
	since int64              // at has all with a fire time after this instant
}

// maxMoved is of how many jobs a cursor notes the last fire if that was moved.
const maxMoved = 100

// note remembers a fire of plan p, if calendars have moved it to another day. On
// the schedule's own days each instant has an outcome, whatever calendars say.
func (mf *movedFires) note(name job.Name, p *job.Plan, at int64) {
	moved := mf.at
	if p.Nominal(at) {
		if moved[name] < at {
			delete(moved, name)
		}
		return
	}
	moved[name] = max(moved[name], at)
	if len(moved) <= maxMoved {
		return
	}
	oldest := name
	for other, at := range moved {
		if cmp.Or(cmp.Compare(at, moved[oldest]), cmp.Compare(other, oldest)) < 0 {
			oldest = other
		}
	}
	mf.since = max(mf.since, moved[oldest])
	delete(moved, oldest)
}

// save enters them in the cursor of a batch.
func (mf *movedFires) save(c *journal.Cursor) { c.Moved = mf.list() }

// list returns them for the cursor, in order.
func (mf *movedFires) list() journal.Moved {
	moved := journal.Moved{}
	if mf.since > 0 {
		moved.Since = instant(mf.since)
	}
	for name, at := range mf.at {
		moved.Fires = append(moved.Fires, journal.MovedFire{Job: name, At: instant(at)})
	}
	slices.SortFunc(moved.Fires, func(a, b journal.MovedFire) int { return cmp.Compare(a.Job, b.Job) })
	return moved
}

// restore takes over what the cursor of a predecessor has noted.
func (mf *movedFires) restore(moved journal.Moved) {
	if !moved.Since.IsZero() {
		mf.since = moved.Since.UnixMilli()
	}
	for _, f := range moved.Fires {
		mf.at[f.Job] = f.At.UnixMilli()
	}
}
