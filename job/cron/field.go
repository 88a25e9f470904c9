package cron

import (
	"strconv"
	"strings"
)

// field is the grammar of one field of one dialect.
type field struct {
	name     string
	index    int    // for H; -1 where there is no H
	low      int    // smallest value, as typed
	high     int    // largest value, as typed
	hashHigh int    // the largest value that H without a range picks
	names    string // of three letters each; the first is value firstName
	first    int    // value of the first name
	zero     int    // value, as typed, of bit 0 in the mask
	wrap     int    // number of values, where a range may wrap (22-2); else 0
	maxStep  int    // after * and after a single value
	quartz   bool   // a/n and /n are steps; a name takes no step
}

const (
	monthNames = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC"
	dayNames   = "SUNMONTUEWEDTHUFRISAT"

	anyStep = 1 << 30 // more than number reads
)

// The fields of Unix cron.
var (
	unixMinute = field{name: "minute", index: 1, high: 59, hashHigh: 59, maxStep: anyStep}
	unixHour   = field{name: "hour", index: 2, high: 23, hashHigh: 23, maxStep: anyStep}
	unixDom    = field{name: "day of month", index: 3, low: 1, high: 31, hashHigh: 28, maxStep: anyStep}
	unixMonth  = field{name: "month", index: 4, low: 1, high: 12, hashHigh: 12, names: monthNames, first: 1, maxStep: anyStep}
	unixDow    = field{name: "day of week", index: 5, high: 7, hashHigh: 6, names: dayNames, maxStep: anyStep}
)

// The fields of Quartz. Its days of the week count from 1.
var (
	quartzSecond = field{name: "second", index: 0, high: 59, hashHigh: 59, wrap: 60, maxStep: 59, quartz: true}
	quartzMinute = field{name: "minute", index: 1, high: 59, hashHigh: 59, wrap: 60, maxStep: 59, quartz: true}
	quartzHour   = field{name: "hour", index: 2, high: 23, hashHigh: 23, wrap: 24, maxStep: 23, quartz: true}
	quartzDom    = field{name: "day of month", index: 3, low: 1, high: 31, hashHigh: 28, wrap: 31, maxStep: 31, quartz: true}
	quartzMonth  = field{name: "month", index: 4, low: 1, high: 12, hashHigh: 12, names: monthNames, first: 1, wrap: 12, maxStep: 12, quartz: true}
	quartzDow    = field{name: "day of week", index: 5, low: 1, high: 7, hashHigh: 7, names: dayNames, first: 1, zero: 1, wrap: 7, maxStep: 7, quartz: true}
	quartzYear   = field{name: "year", index: -1, low: minYear, high: maxYear, maxStep: anyStep, quartz: true}
)

// last returns the largest value that no smaller one stands for: Sunday is 0 as well as 7.
func (f *field) last() int {
	if f == &unixDow {
		return 6
	}
	return f.high
}

// unrolled returns a proposal to write a range that ends before it starts, such as "; write 22,0,2" for
// 22-2/2. There is none where values do not go round, as years do not, and for H, which has no lists.
func (f *field) unrolled(sp span) string {
	if f.index < 0 || sp.step == 0 {
		return ""
	}
	size := f.last() - f.low + 1
	var values []int
	for v := sp.from; v <= sp.to+size; v += sp.step {
		values = append(values, f.low+(v-f.low)%size)
	}
	var items []string
	for i := 0; i < len(values); {
		end := i + 1
		for end < len(values) && values[end] == values[end-1]+1 {
			end++
		}
		item := strconv.Itoa(values[i])
		if end > i+1 {
			item += "-" + strconv.Itoa(values[end-1])
		}
		items = append(items, item)
		i = end
	}
	return "; write " + strings.Join(items, ",")
}

// wants says in words what an item of the field may be.
func (f *field) wants() string {
	text := "a number from " + strconv.Itoa(f.low) + " to " + strconv.Itoa(f.high)
	if f.names != "" {
		text += " or a name from " + f.names[:3] + " to " + f.names[len(f.names)-3:]
	}
	return text
}
