package outcome

import (
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Outcome is what became of a fire.
type Outcome string

// The outcomes of a fire.
const (
	Ran         Outcome = "ran"         // its run has ended
	CaughtUp    Outcome = "caught_up"   // the same, though it was noticed late
	Reported    Outcome = "reported"    // it was done elsewhere and has ended: somebody who holds the job's token said so
	Pending     Outcome = "pending"     // its run has not ended yet
	Skipped     Outcome = "skipped"     // there was a reason against it
	Missed      Outcome = "missed"      // noticed too late, or not begun in time
	Undecided   Outcome = "undecided"   // its shard has not come to it yet
	Unjudged    Outcome = "unjudged"    // nothing is known, and nothing follows from that
	Discrepancy Outcome = "discrepancy" // it contradicts the promise
)

// Outcomes lists every outcome.
var Outcomes = []Outcome{Ran, CaughtUp, Reported, Pending, Skipped, Missed, Undecided, Unjudged, Discrepancy}

// HasRun reports whether o is that of a fire whose run has ended.
func (o Outcome) HasRun() bool { return o == Ran || o == CaughtUp || o == Reported }

// Entry is a fire, and what became of it. Or it is a run that no schedule asked for, of a workflow or of a job
// that is done elsewhere: that has a Cause, and its steps are judged. Instants are in UTC.
type Entry struct {
	FireTime time.Time `json:"fire_time"`
	// Due is when it was to be dispatched: FireTime, moved by the schedule's spread.
	Due     time.Time `json:"due"`
	Version int       `json:"version,omitempty"` // of the job; 0 when none had it
	Outcome Outcome   `json:"outcome"`
	// Cause is why there is a run that no schedule asked for; else it is empty.
	Cause job.Cause `json:"cause,omitempty"`
	// Reason is why there was no run, why it ended so, waits or was late, what is wrong, or
	// why that cannot be said.
	Reason reason.Text `json:"reason,omitempty"`

	// Of the run, where there is one. RunID is that which the fire owes in any case.
	RunID   job.RunID  `json:"run_id"`
	Status  job.Status `json:"status,omitempty"`
	Attempt int        `json:"attempt,omitempty"` // the newest
	// DecidedAt and StartedAt are those of the first attempt that was decided, and began.
	DecidedAt  time.Time `json:"decided_at,omitzero"`
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	// Late is from Due to DecidedAt, when it became durable that the run is triggered, that it
	// waits first, or why there is none.
	Late job.Duration `json:"late,omitempty"`
	// Host is where the run was done, if pings have told of it; it may be unknown.
	Host string `json:"host,omitempty"`
	// Steps are those of the run of a workflow, in the order of its document.
	Steps []Step `json:"steps,omitempty"`
}

// Tally counts fires by their outcome.
type Tally struct {
	Fires         int `json:"fires"` // all of them
	Ran           int `json:"ran,omitempty"`
	CaughtUp      int `json:"caught_up,omitempty"`
	Reported      int `json:"reported,omitempty"`
	Pending       int `json:"pending,omitempty"`
	Skipped       int `json:"skipped,omitempty"`
	Missed        int `json:"missed,omitempty"`
	Undecided     int `json:"undecided,omitempty"`
	Unjudged      int `json:"unjudged,omitempty"`
	Discrepancies int `json:"discrepancies,omitempty"`
	// Failed is how many of those that ran, were caught up or were reported did not succeed.
	Failed int `json:"failed,omitempty"`
}

// Add counts an entry. Of runs that no schedule asked for, only discrepancies count.
func (t *Tally) Add(e *Entry) {
	if e.Cause != "" {
		if e.Outcome == Discrepancy {
			t.Discrepancies++
		}
		return
	}
	t.Fires++
	switch e.Outcome {
	case Ran:
		t.Ran++
	case CaughtUp:
		t.CaughtUp++
	case Reported:
		t.Reported++
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
	if e.Outcome.HasRun() && e.Status != job.StatusSucceeded {
		t.Failed++
	}
}

// Merge adds the counts of other.
func (t *Tally) Merge(other Tally) {
	t.Fires += other.Fires
	t.Ran += other.Ran
	t.CaughtUp += other.CaughtUp
	t.Reported += other.Reported
	t.Pending += other.Pending
	t.Skipped += other.Skipped
	t.Missed += other.Missed
	t.Undecided += other.Undecided
	t.Unjudged += other.Unjudged
	t.Discrepancies += other.Discrepancies
	t.Failed += other.Failed
}
