package ledger

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job/outcome"
)

// Bounds of the second look.
const (
	// againFor is how old the fire times are, at most, of the runs that are looked at again.
	againFor = 8 * 24 * time.Hour
	// againAtOnce is how many entries of the ledger a round looks at again, and all more of one fire time.
	againAtOnce = 500
)

// lookAgain judges runs again of workflows, and of jobs that are done elsewhere, of which p.lasting is the evidence. Most had not ended when their
// fires were judged, and reruns have fire times of the past. Each round goes on where the one before ended, and
// begins anew once it has come to the end.
func (p *Patrol) lookAgain(ctx context.Context) error {
	slices.SortFunc(p.lasting, func(a, b Evidence) int { return cmp.Compare(a.Job, b.Job) })
	left := againAtOnce
	for _, v := range p.lasting {
		if v.Job < p.again.name {
			continue
		}
		to := v.Cursor.Done
		from := to.Add(-againFor)
		if v.Job == p.again.name {
			from = latest(from, p.again.from)
		}
		p.again = cursor{v.Job, from}
		var found []*outcome.Entry
		done, err := v.Judge(ctx, from, to.Add(time.Millisecond), func(e *outcome.Entry) bool {
			if left <= 0 && !e.FireTime.Before(p.again.from) {
				return false
			}
			left--
			p.again.from = e.FireTime.Add(time.Millisecond)
			if e.Outcome == outcome.Discrepancy {
				found = append(found, e)
			}
			return true
		})
		if err != nil {
			return err
		}
		for _, e := range found {
			if err := p.report(ctx, v.Job, e); err != nil {
				return err
			}
		}
		if !done {
			return nil
		}
	}
	p.again = cursor{}
	return nil
}
