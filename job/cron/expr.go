package cron

import "math/bits"

// Years that expressions can name, and in which they fire. Quartz documents 1970-2099
// and gives up a hundred years from now; a fixed end gives the same answer every year.
const (
	minYear = 1970
	maxYear = 2125
)

// Expr is a parsed expression: one bit for each value that matches. It is
// immutable, 64 bytes (88 with a year field), and safe for concurrent use.
type Expr struct {
	second   uint64   // bits 0-59
	minute   uint64   // bits 0-59
	nth      uint64   // bit 7(n-1)+d: the nth weekday d of the month; bit 35+d: the last
	years    *yearSet // nil means every year
	hour     uint32   // bits 0-23
	dom      uint32   // bits 1-31
	domLast  uint32   // bit n: n days before the last of the month (L-n)
	domNear  uint32   // bit d: the working day nearest to the dth (dW)
	domLastW uint32   // bit n: the working day nearest to n days before the last (L-nW)
	first    int32    // seconds into a matching day at which it fires first
	month    uint16   // bits 1-12
	dow      uint8    // bits 0-6, Sunday is 0
	flags    uint8
	before   uint8 // how many days before a day that matches it fires, too
	after    uint8 // how many days after one
}

// yearSet has one bit for each year from minYear to maxYear.
type yearSet [(maxYear - minYear + 64) / 64]uint64

const (
	domRestricts = 1 << iota // the day of the month matters
	dowRestricts             // the day of the week matters
	eitherDay                // Unix: one of the two is enough, else both must match
	everyHour                // fires in all 24 hours of a matching day
	starClock                // the minute or hour field begins with *: Vixie's test
)

const (
	allHours = 1<<24 - 1
	allDays  = 1<<32 - 2 // of a month
	allWeek  = 1<<7 - 1
)

// finish derives what Next wants to have at hand from the masks of the fields.
func (e *Expr) finish() {
	if e.hour == allHours {
		e.flags |= everyHour
	}
	first := bits.TrailingZeros32(e.hour)*3600 + bits.TrailingZeros64(e.minute)*60 + bits.TrailingZeros64(e.second)
	e.first = int32(first) //nolint:gosec // below 86400: no mask is empty
}

// hasYear reports whether the expression fires in year y.
func (e *Expr) hasYear(y int) bool {
	return e.years == nil || e.years.has(y)
}

// has reports whether y is in the set.
func (s *yearSet) has(y int) bool {
	i := y - minYear
	return i >= 0 && i <= maxYear-minYear && s[i>>6]>>(i&63)&1 != 0
}

// add puts y, which must be within minYear and maxYear, into the set.
func (s *yearSet) add(y int) {
	i := y - minYear
	s[i>>6] |= 1 << (i & 63)
}

// days returns the matching days of a month as bits 1-31.
func (e *Expr) days(year, month int) uint32 {
	length := monthLength(year, month)
	all := uint32(1)<<(length+1) - 2
	if e.flags&(domRestricts|dowRestricts) == 0 {
		return all
	}
	if e.flags&dowRestricts == 0 && e.domNear|e.domLastW == 0 {
		return e.daysOfMonth(length, 0) & all // no weekday needed
	}
	weekday := weekdayOfFirst(year, month)
	switch e.flags & (domRestricts | dowRestricts | eitherDay) {
	case domRestricts:
		return e.daysOfMonth(length, weekday) & all
	case dowRestricts:
		return e.daysOfWeek(length, weekday) & all
	case domRestricts | dowRestricts:
		return e.daysOfMonth(length, weekday) & e.daysOfWeek(length, weekday) & all
	default:
		return (e.daysOfMonth(length, weekday) | e.daysOfWeek(length, weekday)) & all
	}
}

// daysOfMonth returns the days that the day-of-month field matches in a month of
// the given length whose first is the given weekday; bits beyond its end are noise.
func (e *Expr) daysOfMonth(length, weekday int) uint32 {
	mask := e.dom
	if e.domLast|e.domNear|e.domLastW == 0 {
		return mask
	}
	for b := e.domLast; b != 0; b &= b - 1 {
		if d := length - bits.TrailingZeros32(b); d >= 1 {
			mask |= 1 << d
		}
	}
	for b := e.domNear; b != 0; b &= b - 1 {
		if d := bits.TrailingZeros32(b); d <= length {
			mask |= 1 << nearestWorkday(d, length, weekday)
		}
	}
	for b := e.domLastW; b != 0; b &= b - 1 {
		if d := length - bits.TrailingZeros32(b); d >= 1 {
			mask |= 1 << nearestWorkday(d, length, weekday)
		}
	}
	return mask
}

// daysOfWeek is daysOfMonth for the day-of-week field; it has noise for a fifth
// weekday that the month does not have.
func (e *Expr) daysOfWeek(length, weekday int) uint32 {
	var mask uint32
	if e.dow != 0 {
		week := (uint32(e.dow) | uint32(e.dow)<<7) >> weekday & allWeek // bit 0 is the first's weekday
		mask = (week | week<<7 | week<<14 | week<<21 | week<<28) << 1
	}
	for b := e.nth; b != 0; b &= b - 1 {
		n, d := bits.TrailingZeros64(b)/7, bits.TrailingZeros64(b)%7
		day := 1 + (d-weekday+7)%7
		if n < 5 {
			day += n * 7
		} else {
			day += (length - day) / 7 * 7
		}
		mask |= 1 << day
	}
	return mask
}

// nextLocal returns the first matching second of a clock without a zone at or after
// the given one, both counted from 1970-01-01T00:00; false when there is none.
func (e *Expr) nextLocal(local int64) (int64, bool) {
	if local > maxLocal {
		return 0, false
	}
	local = max(local, 0)
	day := int(local / daySeconds)
	year, month, dom := civil(day)
	var days uint32
	if days = e.daysAround(year, month); days != 0 {
		if days>>dom&1 != 0 {
			if s, ok := e.nextOfDay(int(local) - day*daySeconds); ok {
				return int64(day*daySeconds + s), true
			}
		}
		days &^= 2<<dom - 1
	}
	for days == 0 {
		var ok bool
		if year, month, ok = e.nextMonth(year, month); !ok {
			return 0, false
		}
		days = e.daysAround(year, month)
	}
	day = daysSinceEpoch(year, month, bits.TrailingZeros32(days))
	return int64(day*daySeconds + int(e.first)), true
}

// nextOfDay returns the first matching second of a day at or after the given one;
// false when the day has no more.
func (e *Expr) nextOfDay(second int) (int, bool) {
	h, m, s := second/3600, second/60%60, second%60
	if e.hour>>h&1 != 0 {
		if e.minute>>m&1 != 0 {
			if left := e.second >> s; left != 0 {
				return second + bits.TrailingZeros64(left), true
			}
		}
		if left := e.minute &^ (2<<m - 1); left != 0 {
			return h*3600 + bits.TrailingZeros64(left)*60 + bits.TrailingZeros64(e.second), true
		}
	}
	if left := e.hour &^ (2<<h - 1); left != 0 {
		return bits.TrailingZeros32(left)*3600 + int(e.first)%3600, true
	}
	return 0, false
}

// nextMonth returns the first matching month after the given one; false when the
// years are used up.
func (e *Expr) nextMonth(year, month int) (y, m int, ok bool) {
	if e.before|e.after != 0 { // any month may have days around those that match
		return year + month/12, month%12 + 1, year+month/12 <= maxYear
	}
	if left := e.month &^ (2<<month - 1); left != 0 && e.hasYear(year) {
		return year, bits.TrailingZeros16(left), true
	}
	for year++; year <= maxYear; year++ {
		if e.hasYear(year) {
			return year, bits.TrailingZeros16(e.month), true
		}
	}
	return 0, 0, false
}
