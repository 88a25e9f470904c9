package cron

// Move says what a moved clock has to do with a fire.
type Move uint8

// The ways in which a fire has to do with a moved clock.
const (
	// NotMoved: nothing.
	NotMoved Move = iota
	// AfterGap: the time on the wall at which it was due did not exist, so it came
	// when the gap ended.
	AfterGap
	// FirstPass: its time on the wall comes a second time after it.
	FirstPass
	// SecondPass: its time on the wall was there before.
	SecondPass
)

// Moved returns what a moved clock of z has to do with a fire of e, both in seconds: at
// since 1970-01-01T00:00Z, and wall, the time that the expression names, since the
// beginning of 1970 on the wall. It asks for no more than that: that e fires at at is
// the caller's word.
func (e *Expr) Moved(at int64, z *Zone, p Policy) (m Move, wall int64) {
	return moved(e, at, z, p)
}

func moved(e Pattern, at int64, z *Zone, p Policy) (m Move, wall int64) {
	i := z.at(at)
	wall = at + z.periods[i].offset
	if p.rules(e).fireAfterGap && z.gapEndsAt(i, at) {
		if due, ok := e.nextLocal(at + z.periods[i-1].offset); ok && due < wall {
			return AfterGap, due
		}
	}
	switch {
	case i > 0 && at < z.repeatedUntil(i):
		return SecondPass, wall
	case at >= z.repeatsFrom(i):
		return FirstPass, wall
	}
	return NotMoved, wall
}

// Change is an instant at which the clocks of a zone are moved.
type Change struct {
	At            int64 // Unix seconds
	Before, After int64 // seconds east of UTC
}

// NextChange returns when clocks are moved next after an instant, in Unix seconds;
// false when they are not any more.
func (z *Zone) NextChange(after int64) (Change, bool) {
	i := z.at(after)
	if i+1 == len(z.periods) {
		return Change{}, false
	}
	next := z.periods[i+1]
	return Change{At: next.start, Before: z.periods[i].offset, After: next.offset}, true
}

// Gap returns what becomes of fires of e that a gap skips, as a policy's text names
// it: "skip" or "fire".
func (p Policy) Gap(e Pattern) string {
	if p.rules(e).fireAfterGap {
		return "fire"
	}
	return "skip"
}

// Overlap returns in which pass of repeated times e fires, as a policy's text names
// it: "first", "last" or "both".
func (p Policy) Overlap(e Pattern) string {
	switch p.rules(e).pass {
	case lastPass:
		return "last"
	case bothPasses:
		return "both"
	case passAuto, firstPass:
	}
	return "first"
}
