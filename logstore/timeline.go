package logstore

import (
	"cmp"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

// ranks order changes of one instant: an attempt waits, begins and ends.
var ranks = map[runlog.Kind]int{
	runlog.KindRecorded: 1, runlog.KindHeld: 2, runlog.KindStarted: 3, runlog.KindProgress: 4, runlog.KindFinished: 5, runlog.KindLate: 6,
	runlog.KindOnHold: 7, runlog.KindResumed: 8, runlog.KindMarked: 9,
}

// Timeline returns the changes of a run, or of a piece of it, in the order in which they happened. It
// leaves out that an attempt waits for an instance if it had ended by then: a server had it in hand still.
func Timeline(all []runlog.Change) []runlog.Change {
	ends := map[int]time.Time{}
	for i := range all {
		c := &all[i]
		if c.Kind == runlog.KindFinished || c.Kind == runlog.KindRecorded && c.Status.Final() {
			if at, ended := ends[c.Attempt]; !ended || c.At.After(at) {
				ends[c.Attempt] = c.At
			}
		}
	}
	all = slices.DeleteFunc(all, func(c runlog.Change) bool {
		end, ended := ends[c.Attempt]
		return ended && c.Kind == runlog.KindHeld && c.At.After(end)
	})
	slices.SortStableFunc(all, func(a, b runlog.Change) int {
		return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), a.At.Compare(b.At), cmp.Compare(ranks[a.Kind], ranks[b.Kind]), cmp.Compare(a.Delivery, b.Delivery))
	})
	return all
}
