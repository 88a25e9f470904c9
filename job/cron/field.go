package cron

import "strconv"

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

// wants says in words what an item of the field may be.
func (f *field) wants() string {
	text := "a number from " + strconv.Itoa(f.low) + " to " + strconv.Itoa(f.high)
	if f.names != "" {
		text += " or a name from " + f.names[:3] + " to " + f.names[len(f.names)-3:]
	}
	return text
}
