package runlog

import "time"

// UsagePart is what an executor group, or the runs of one job, did in one part of a range of time. A run that is done
// in pieces waits as one, until its first piece begins, and each piece takes a slot.
type UsagePart struct {
	At          time.Time `json:"at"`              // when the part begins
	Waiting     float64   `json:"waiting"`         // how many runs waited for an executor, on average
	LongestWait int64     `json:"longest_wait_ms"` // how long the one had waited that did longest
	Started     int       `json:"started"`         // attempts and pieces that began
	Ended       int       `json:"ended"`           // of those that had begun
	SlotsInUse  float64   `json:"slots_in_use"`    // on average
}
