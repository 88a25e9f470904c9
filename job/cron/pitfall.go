package cron

import (
	"slices"
	"strconv"
	"strings"
)

// Pitfall is a part of an expression that fires at other times than many people expect.
type Pitfall struct {
	Kind PitfallKind
	// Text is the field as typed, without blanks.
	Text string
	// Values are the values that it stands for, such as "0,45"; days of the week are names.
	Values string
	// Every is the interval that an [UnevenStep] suggests, such as "45m"; else empty.
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
)

// Pitfalls returns the pitfalls of an expression, in the order of its fields. There are none in
// text that [Parse] refuses, and in macros.
func Pitfalls(text string, seed uint64) []Pitfall {
	if _, err := Parse(text, seed); err != nil || strings.HasPrefix(strings.Trim(text, blanks), "@") {
		return nil
	}
	f := split(text)
	clock := []*field{&unixMinute, &unixHour}
	if len(f) > 5 {
		clock = []*field{&quartzSecond, &quartzMinute, &quartzHour}
	}
	var found []Pitfall
	for i, field := range clock {
		if p, ok := unevenStep(field, f[i], seed); ok {
			found = append(found, p)
		}
	}
	if len(f) > 5 {
		if p, ok := numberedDays(f[5]); ok {
			found = append(found, p)
		}
	}
	return found
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
	size := f.high - f.low + 1
	first, last := values[0], values[len(values)-1]
	even := first+size-last == n
	if strings.Contains(base, "-") {
		even = len(values) > 1 || sp.from == sp.to
	}
	if even {
		return Pitfall{}, false
	}
	unit := map[string]string{"second": "s", "minute": "m", "hour": "h"}[f.name]
	return Pitfall{Kind: UnevenStep, Text: text, Values: list(values, strconv.Itoa), Every: step + unit}, true
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
