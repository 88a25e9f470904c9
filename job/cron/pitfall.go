package cron

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Pitfall is a part of an expression that fires at other times than many people expect.
type Pitfall struct {
	Kind PitfallKind
	// Text is the field as typed, without blanks; of a [MissingDay] the day, such as "31".
	Text string
	// Values are the values that it stands for, such as "0,45"; days of the week are names. Of a
	// [MissingDay] they are the months without it.
	Values string
	// Every is the interval that a step suggests: of an [UnevenStep] a duration, such as "45m", and of
	// an [UnevenDays] a step of the calendar, such as "days: 2"; else empty.
	Every string
}

// PitfallKind says what is unexpected.
type PitfallKind int

// The kinds of pitfalls.
const (
	// UnevenStep is a step that is no interval, as it starts again with each minute, hour or
	// day: */45 in the minutes is 0 and 45.
	UnevenStep PitfallKind = iota
	// NumberedDays are numbers of days of the week in six or seven fields, where 1 is Sunday.
	NumberedDays
	// UnevenDays is a step that is no interval, as it starts again with each month, year or week:
	// */2 in the days of the month fires on the 31st and on the 1st.
	UnevenDays
	// MissingDay is a day that some of the months do not have.
	MissingDay
	// LeapDay is 29 February.
	LeapDay
	// EitherDay is a day of the month with a day of the week: it fires if either matches.
	EitherDay
	// StarBefore is a * right before a field with values: * 3 * * * fires 60 times.
	StarBefore
)

// Pitfalls returns the pitfalls of an expression, in the order of its fields. There are none in
// text that [Parse] refuses, and in macros.
func Pitfalls(text string, seed uint64) []Pitfall {
	e, err := Parse(text, seed)
	if err != nil || strings.HasPrefix(strings.Trim(text, blanks), "@") {
		return nil
	}
	f := split(text)
	grammar := []*field{&unixMinute, &unixHour, &unixDom, &unixMonth, &unixDow}
	if len(f) > 5 {
		grammar = []*field{&quartzSecond, &quartzMinute, &quartzHour, &quartzDom, &quartzMonth, &quartzDow}
	}
	var found []Pitfall
	add := func(p Pitfall, ok bool) {
		if ok {
			found = append(found, p)
		}
	}
	clock := len(grammar) - 3 // the fields before the days
	for i, field := range grammar {
		add(unevenStep(field, f[i], seed))
		if i > 0 && i < clock && f[i-1] == "*" && values.MatchString(f[i]) {
			add(Pitfall{Kind: StarBefore, Text: f[i]}, true)
		}
	}
	add(missingDay(f[clock], e))
	add(Pitfall{Kind: EitherDay}, e.flags&eitherDay != 0)
	if len(f) > 5 {
		add(numberedDays(f[5]))
	}
	return found
}

// values matches a list of single values.
var values = regexp.MustCompile(`^[0-9]+(,[0-9]+)*$`)

// missingDay finds a single day of the month that some of the months of an expression do not have.
func missingDay(text string, e *Expr) (Pitfall, bool) {
	day := 0
	for item := range strings.SplitSeq(text, ",") {
		if n, err := strconv.Atoi(item); err == nil {
			day = max(day, n)
		}
	}
	const february = 2
	var without []string
	for month := 1; month <= 12; month++ {
		length := monthLength(minYear, month)
		if month == february {
			length++ // in leap years
		}
		if e.month>>month&1 != 0 && day > length {
			without = append(without, monthNames[3*(month-1):3*month])
		}
	}
	switch {
	case len(without) > 0:
		return Pitfall{Kind: MissingDay, Text: strconv.Itoa(day), Values: strings.Join(without, ",")}, true
	case day == 29 && e.month>>february&1 != 0:
		return Pitfall{Kind: LeapDay}, true
	}
	return Pitfall{}, false
}

// unevenStep finds a step whose values are not as far apart as it says, or of which a range has only
// the first.
func unevenStep(f *field, text string, seed uint64) (Pitfall, bool) {
	base, step, ok := strings.Cut(text, "/")
	n, err := strconv.Atoi(step)
	s := scanner{field: f, seed: seed, item: text}
	if !ok || err != nil || strings.Contains(text, ",") || upper(text[0]) == 'H' {
		return Pitfall{}, false
	}
	sp, err := s.span()
	if err != nil {
		return Pitfall{}, false
	}
	values := slices.Collect(sp.values)
	if f == &unixDow && values[len(values)-1] > f.last() {
		values = values[:len(values)-1] // Sunday is 0 already
	}
	size := f.last() - f.low + 1
	first, last := values[0], values[len(values)-1]
	even := first+size-last == n
	switch f.index {
	case unixDom.index: // months differ in length
		even = n == 1 || len(values) == 1 && n <= size
	case unixDow.index: // numbers are another pitfall
		even = even || base != "*"
	}
	if strings.Contains(base, "-") {
		even = len(values) > 1 || sp.from == sp.to
	}
	if even {
		return Pitfall{}, false
	}
	p := Pitfall{Kind: UnevenStep, Text: text, Values: list(values, strconv.Itoa)}
	switch f.index {
	case quartzSecond.index:
		p.Every = step + "s"
	case unixMinute.index:
		p.Every = step + "m"
	case unixHour.index:
		p.Every = step + "h"
	case unixDom.index:
		p.Kind, p.Every = UnevenDays, "days: "+step
	case unixMonth.index:
		p.Kind, p.Every = UnevenDays, "months: "+step
	case unixDow.index:
		p.Kind, p.Values, p.Every = UnevenDays, list(values, dayName), "days: "+step
	}
	return p, true
}

// numberedDays finds days of the week in numbers, unless they are all seven.
func numberedDays(text string) (Pitfall, bool) {
	base, _, _ := strings.Cut(text, "/")
	if base, _, _ = strings.Cut(base, "#"); !strings.ContainsAny(base, "1234567") {
		return Pitfall{}, false
	}
	if day := text[0] - '1'; len(text) > 1 && (text[1] == '#' || upper(text[1]) == 'L') {
		return Pitfall{Kind: NumberedDays, Text: text, Values: dayName(int(day)) + strings.ToUpper(text[1:])}, true
	}
	var days uint8
	for item := range strings.SplitSeq(text, ",") {
		s := scanner{field: &quartzDow, item: item}
		sp, err := s.span()
		if err != nil || upper(item[0]) == 'H' { // H is a value that nobody counts on
			return Pitfall{}, false
		}
		setBits(&days, sp)
	}
	if days == allWeek {
		return Pitfall{}, false
	}
	var values []int
	for day := range 7 {
		if days>>day&1 != 0 {
			values = append(values, day)
		}
	}
	return Pitfall{Kind: NumberedDays, Text: text, Values: list(values, dayName)}, true
}

func dayName(day int) string { return dayNames[3*day : 3*day+3] }

// list writes ascending values with ranges of three and more: "1-3,5".
func list(values []int, name func(int) string) string {
	var items []string
	for len(values) > 0 {
		n := 1
		for n < len(values) && values[n] == values[n-1]+1 {
			n++
		}
		if n < 3 {
			n = 1
			items = append(items, name(values[0]))
		} else {
			items = append(items, name(values[0])+"-"+name(values[n-1]))
		}
		values = values[n:]
	}
	return strings.Join(items, ",")
}
