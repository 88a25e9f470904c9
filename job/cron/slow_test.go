package cron

import (
	"slices"
	"time"
)

// slowFires is what Next promises, in the plainest words: it walks through real time
// in steps, which must divide every fire, looks at the clock on the wall, and returns
// the fires in (after, until]. It shares no arithmetic with Next.
func slowFires(e *Expr, location *time.Location, p Policy, after, until, step int64) []int64 {
	day := slowDay{e: e}
	return slowFiresOf(day.matches, p.rules(e), location, after, until, step)
}

// slowFiresOf is slowFires of what matches on the wall.
func slowFiresOf(matches func(wall int64) bool, r rules, location *time.Location, after, until, step int64) []int64 {
	const margin = 4 * 60 * 60 // no clock goes back by more
	var walls []int64
	start := (after - margin) / step * step
	for u := start; u <= until+margin; u += step {
		_, offset := time.Unix(u, 0).In(location).Zone()
		walls = append(walls, u+int64(offset))
	}
	repeats := make([]bool, len(walls)) // will this time come again?
	earliest := walls[len(walls)-1] + 1
	for i, wall := range slices.Backward(walls) {
		repeats[i] = wall >= earliest
		earliest = min(earliest, wall)
	}
	latest := walls[0]
	var fires []int64
	for i, wall := range walls {
		if i == 0 {
			continue
		}
		fire := matches(wall)
		if r.pass == firstPass && wall <= latest || r.pass == lastPass && repeats[i] {
			fire = false
		}
		for skipped := walls[i-1] + step; skipped < wall && r.fireAfterGap; skipped += step {
			fire = fire || matches(skipped)
		}
		latest = max(latest, wall)
		if u := start + int64(i)*step; fire && u > after && u <= until {
			fires = append(fires, u)
		}
	}
	return fires
}

// slowDay tells which seconds match, and remembers what it found out about a day.
type slowDay struct {
	e     *Expr
	date  int64
	known bool
	match bool
}

// matches reports whether an expression fires at a second of a clock without a zone.
func (d *slowDay) matches(wall int64) bool {
	if wall < 0 || wall > time.Date(maxYear, time.December, 31, 23, 59, 59, 0, time.UTC).Unix() {
		return false
	}
	if date := wall / 86400; !d.known || date != d.date {
		d.date, d.known, d.match = date, true, slowDate(d.e, time.Unix(wall, 0).UTC())
	}
	h, m, s := wall/3600%24, wall/60%60, wall%60
	return d.match && d.e.hour>>h&1 == 1 && d.e.minute>>m&1 == 1 && d.e.second>>s&1 == 1
}

// slowDate reports whether an expression fires on the date of t.
func slowDate(e *Expr, t time.Time) bool {
	if !e.hasYear(t.Year()) || e.month>>t.Month()&1 == 0 {
		return false
	}
	last := time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	workday := func(near int) int { // by looking at all days of the month
		best := 0
		for day := 1; day <= last; day++ {
			weekday := time.Date(t.Year(), t.Month(), day, 0, 0, 0, 0, time.UTC).Weekday()
			working := weekday != time.Saturday && weekday != time.Sunday
			if working && (best == 0 || max(day-near, near-day) < max(best-near, near-best)) {
				best = day
			}
		}
		return best
	}
	dom := e.dom>>t.Day()&1 == 1
	for n := range 31 {
		dom = dom || e.domLast>>n&1 == 1 && t.Day() == last-n
		dom = dom || e.domLastW>>n&1 == 1 && last-n >= 1 && t.Day() == workday(last-n)
		dom = dom || e.domNear>>(n+1)&1 == 1 && n+1 <= last && t.Day() == workday(n+1)
	}
	dow := e.dow>>t.Weekday()&1 == 1
	dow = dow || e.nth>>(int(t.Weekday())+(t.Day()-1)/7*7)&1 == 1
	dow = dow || e.nth>>(int(t.Weekday())+35)&1 == 1 && t.Day()+7 > last
	if e.flags&eitherDay != 0 {
		return dom || dow
	}
	return (dom || e.flags&domRestricts == 0) && (dow || e.flags&dowRestricts == 0)
}
