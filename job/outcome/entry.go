package outcome

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Fate is what became of a fire.
type Fate string

// The fates of a fire.
const (
	Ran         Fate = "ran"         // its run has ended
	CaughtUp    Fate = "caught_up"   // the same, though it was noticed late
	Pending     Fate = "pending"     // its run has not ended yet
	Skipped     Fate = "skipped"     // there was a reason against it
	Missed      Fate = "missed"      // noticed too late, or not begun in time
	Undecided   Fate = "undecided"   // its shard has not come to it yet
	Unjudged    Fate = "unjudged"    // nothing is known, and nothing follows from that
	Discrepancy Fate = "discrepancy" // it contradicts the promise
)

// Fates lists every fate.
var Fates = []Fate{Ran, CaughtUp, Pending, Skipped, Missed, Undecided, Unjudged, Discrepancy}

// Entry is a fire, and what became of it. Instants are in UTC.
type Entry struct {
	FireTime time.Time `json:"fire_time"`
	// Due is when it was to be dispatched: FireTime, moved by the schedule's spread.
	Due     time.Time `json:"due"`
	Version int       `json:"version,omitempty"` // of the job; 0 when none had it
	Fate    Fate      `json:"fate"`
	// Reason is why there was no run, why it was late, what is wrong, or why that cannot
	// be said.
	Reason string `json:"reason,omitempty"`

	// Of the run, where there is one. RunID is that which the fire owes in any case.
	RunID       job.RunID  `json:"run_id"`
	Status      job.Status `json:"status,omitempty"`
	Attempt     int        `json:"attempt,omitempty"` // the newest
	CommittedAt time.Time  `json:"committed_at,omitzero"`
	StartedAt   time.Time  `json:"started_at,omitzero"`
	FinishedAt  time.Time  `json:"finished_at,omitzero"`
	// Late is from Due to the commit of the trigger, or of the reason against it.
	Late job.Duration `json:"late,omitempty"`
}

// Tally counts fires by their fate.
type Tally struct {
	Fires         int `json:"fires"` // all of them
	Ran           int `json:"ran,omitempty"`
	CaughtUp      int `json:"caught_up,omitempty"`
	Pending       int `json:"pending,omitempty"`
	Skipped       int `json:"skipped,omitempty"`
	Missed        int `json:"missed,omitempty"`
	Undecided     int `json:"undecided,omitempty"`
	Unjudged      int `json:"unjudged,omitempty"`
	Discrepancies int `json:"discrepancies,omitempty"`
	// Failed is how many of those that ran or were caught up did not succeed.
	Failed int `json:"failed,omitempty"`
}

// Add counts an entry.
func (t *Tally) Add(e *Entry) {
	t.Fires++
	switch e.Fate {
	case Ran:
		t.Ran++
	case CaughtUp:
		t.CaughtUp++
	case Pending:
		t.Pending++
	case Skipped:
		t.Skipped++
	case Missed:
		t.Missed++
	case Undecided:
		t.Undecided++
	case Unjudged:
		t.Unjudged++
	case Discrepancy:
		t.Discrepancies++
	}
	if (e.Fate == Ran || e.Fate == CaughtUp) && e.Status != job.StatusSucceeded {
		t.Failed++
	}
}

// Merge adds the counts of other.
func (t *Tally) Merge(other Tally) {
	t.Fires += other.Fires
	t.Ran += other.Ran
	t.CaughtUp += other.CaughtUp
	t.Pending += other.Pending
	t.Skipped += other.Skipped
	t.Missed += other.Missed
	t.Undecided += other.Undecided
	t.Unjudged += other.Unjudged
	t.Discrepancies += other.Discrepancies
	t.Failed += other.Failed
}
