package job

import (
	"time"

	"github.com/carillon-scheduler/carillon/job/cron"
)

// Moved returns what a moved clock has to do with a fire of the plan, an instant in
// Unix milliseconds, and which time of day its schedule names. Only fires of cron
// expressions and of intervals of the calendar follow the clock on the wall.
func (p *Plan) Moved(at int64) (cron.Move, time.Duration) {
	if !p.Kind.OnWall() {
		return cron.NotMoved, 0
	}
	t := p.table
	move, wall := t.pattern.Moved(floorDiv(at, 1000), t.zone, t.policy)
	const day = 24 * 60 * 60
	return move, time.Duration(wall-floorDiv(wall, day)*day) * time.Second
}

// ClockChange is when the clocks of a schedule are moved, and what it does then.
type ClockChange struct {
	At time.Time
	// Before and After are how far the clocks are ahead of UTC.
	Before, After time.Duration
	// Gap and Overlap are as [cron.ParsePolicy] has them: "fire" or "skip"; "first",
	// "last" or "both".
	Gap, Overlap string
}

// NextClockChange returns the next change after an instant of the clocks that the plan
// follows; false when there is none.
func (p *Plan) NextClockChange(after time.Time) (ClockChange, bool) {
	if !p.Kind.OnWall() {
		return ClockChange{}, false
	}
	t := p.table
	next, ok := t.zone.NextChange(after.Unix())
	if !ok {
		return ClockChange{}, false
	}
	return ClockChange{
		At:     time.Unix(next.At, 0).UTC(),
		Before: time.Duration(next.Before) * time.Second, After: time.Duration(next.After) * time.Second,
		Gap: t.policy.Gap(t.pattern), Overlap: t.policy.Overlap(t.pattern),
	}, true
}

// mostForeseen is how many fires are counted one by one: 100 times as many as a busy
// day has, and done in some milliseconds.
const mostForeseen = 100_000

// Count returns how many fires the plan has within so long after an instant. From
// 100,000 on it goes by the pace of those. Calendars do not count.
func (p *Plan) Count(after time.Time, within time.Duration) int {
	from := after.UnixMilli()
	end := from + within.Milliseconds()
	n := 0
	var first, last int64
	History{*p}.Fires(0, from, end, func(f Fire) bool {
		if !p.Nominal(f.At) {
			return true
		}
		if n++; n == 1 {
			first = f.Due
		}
		last = f.Due
		return n < mostForeseen
	})
	if n < mostForeseen {
		return n
	}
	return n + int(float64(end-last)*float64(n-1)/float64(last-first))
}
