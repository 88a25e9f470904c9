package outcome

import (
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Only says which fires of the past to run again.
type Only string

// Which fires to run again.
const (
	OnlyMissed  Only = "missed"  // of which nothing ran, though it should have
	OnlySkipped Only = "skipped" // for which there was a reason: overlap, a calendar, a pause
	OnlyFailed  Only = "failed"  // whose runs did not succeed
	All         Only = "all"     // every fire, also of a time before there was the job
)

// Onlys lists all choices.
var Onlys = []Only{OnlyMissed, OnlySkipped, OnlyFailed, All}

// Others are fires that are not to run again, and what became of them.
type Others struct {
	Outcome Outcome `json:"outcome"`
	// Reason is that of the first of them; the others' are the same but for what they name.
	Reason reason.Text `json:"reason,omitempty"`
	Fires  int         `json:"fires"`
}

// Selects reports whether an entry is among those that are meant. A fire that was moved to another
// day is not: it has an entry there. Nor is a run that no schedule asked for.
func (o Only) Selects(e *Entry) bool {
	if e.moved() || e.Cause != "" {
		return false
	}
	switch o {
	case OnlyMissed:
		return e.Outcome == Missed || e.Outcome == Discrepancy && e.Status == ""
	case OnlySkipped:
		return e.Outcome == Skipped
	case OnlyFailed:
		return e.Outcome.HasRun() && e.Status != job.StatusSucceeded
	case All:
		return e.Outcome != Undecided && e.Outcome != Pending
	}
	return false
}

// moved reports whether the fire was moved to another day.
func (e *Entry) moved() bool {
	if e.Outcome != Skipped {
		return false
	}
	for said := new(reason.Read(string(e.Reason))); said != nil; said = said.And {
		if said.Code == reason.ShiftsNext.Code || said.Code == reason.ShiftsPrevious.Code {
			return true
		}
	}
	return false
}
