package backfill

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Bounds of a backfill of many jobs.
const (
	MaxJobs   = 500
	MaxFires  = 100_000 // of all its jobs, as they were counted when it was created
	MaxAtOnce = 100
	MaxID     = 40  // bytes
	MaxName   = 100 // characters
	MaxNote   = 500 // bytes
	// MaxEvents is how many acts of people it takes. Its end is one more.
	MaxEvents = 100
)

// Bulk is a backfill of many jobs: fires of a range of the past, and how far it has come. Instants are in UTC.
type Bulk struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Fires of [From, To) are run that Only selects. Again includes those that an earlier backfill has run with success.
	From  time.Time    `json:"from"`
	To    time.Time    `json:"to"`
	Only  outcome.Only `json:"only"`
	Again bool         `json:"again,omitempty"`
	// AtOnce is how many runs of all its jobs may be alive.
	AtOnce    int       `json:"at_once"`
	CreatedAt time.Time `json:"created_at"`
	By        string    `json:"by,omitempty"`
	// Paused says that nothing begins until somebody resumes it, Cancelled that nothing begins any more.
	Paused    bool `json:"paused,omitempty"`
	Cancelled bool `json:"cancelled,omitempty"`
	// EndedAt is when the last of its runs had ended, and was counted.
	EndedAt time.Time `json:"ended_at,omitzero"`
	// Events are who did what to it, oldest first.
	Events []Event `json:"events"`
	Jobs   []Part  `json:"jobs"`
}

// Part is one job of a backfill.
type Part struct {
	Job   job.Name `json:"job"`
	State State    `json:"state"`
	// Fires is how many fires of the job are run: those that were selected when it was created or, of a part
	// that is done, those that have run.
	Fires int `json:"fires"`
	// Begun, Succeeded and Failed are how many of them have a run, and how these ended: of rounds that are over.
	Begun     int `json:"begun"`
	Succeeded int `json:"succeeded,omitempty"`
	Failed    int `json:"failed,omitempty"`
	// Alive is how many runs have not ended. It is not stored: the owner of the job knows.
	Alive int `json:"alive,omitempty"`
	// Round counts the backfills of this job alone that it has had, from 1. Retry says that this one is of the
	// runs that failed. AtOnce is how many runs may be alive in it, and AskedAt when it began.
	Round   int       `json:"round"`
	Retry   bool      `json:"retry,omitempty"`
	AtOnce  int       `json:"at_once,omitempty"`
	AskedAt time.Time `json:"asked_at,omitzero"`
	// Why is why it was refused or cancelled.
	Why reason.Text `json:"why,omitempty"`
}

// State is how a job of a backfill stands.
type State string

// The states of a part.
const (
	Waiting   State = "waiting"   // for its turn
	Working   State = "working"   // its fires run
	Stopping  State = "stopping"  // no further fire begins, and runs that have begun end
	Done      State = "done"      // all its fires have run
	Cancelled State = "cancelled" // not all have, and no further one will
	Refused   State = "refused"   // none could be run
)

var states = []State{Waiting, Working, Stopping, Done, Cancelled, Refused}

// AtWork reports whether a round of the part is under way.
func (p *Part) AtWork() bool { return p.State == Working || p.State == Stopping }

// Over reports whether nothing more happens to the part by itself.
func (p *Part) Over() bool { return !p.AtWork() && p.State != Waiting }

// AddProgress adds how far the round has come that is at work.
func (p *Part) AddProgress(round *job.Backfill) {
	p.Alive = round.Alive
	if !p.Retry { // which has no new fires
		p.Begun += round.Begun
	}
}

// Event is something that somebody did to a backfill, or that became of it.
type Event struct {
	At   time.Time `json:"at"`
	By   string    `json:"by,omitempty"` // empty for its end
	Act  Act       `json:"act"`
	Note string    `json:"note,omitempty"`
}

// Act is what was done to a backfill.
type Act string

// The acts.
const (
	Created Act = "created"
	Paused  Act = "paused"
	Resumed Act = "resumed"
	Stopped Act = "cancelled"
	Retried Act = "retried"
	Ended   Act = "ended"
)

var acts = []Act{Created, Paused, Resumed, Stopped, Retried, Ended}

// Validate returns an *InvalidError that names the field that is wrong.
func (b *Bulk) Validate() error {
	if err := CheckID(b.ID); err != nil {
		return err
	}
	switch {
	case b.Name == "" || utf8.RuneCountInString(b.Name) > MaxName:
		return job.Invalid("name", "must have between 1 and %d characters", MaxName)
	case !b.To.After(b.From):
		return job.Invalid("to", "must be after from")
	case !slices.Contains(outcome.Onlys, b.Only):
		return job.Invalid("only", "%q must be one of %v", b.Only, outcome.Onlys)
	case b.AtOnce < 1 || b.AtOnce > MaxAtOnce:
		return job.Invalid("at_once", "%d must be between 1 and %d", b.AtOnce, MaxAtOnce)
	case len(b.Jobs) < 1 || len(b.Jobs) > MaxJobs:
		return job.Invalid("jobs", "has %d; a backfill has between 1 and %d", len(b.Jobs), MaxJobs)
	case len(b.Events) > MaxEvents+1:
		return job.Invalid("events", "has %d; a backfill has at most %d", len(b.Events), MaxEvents+1)
	}
	for _, e := range b.Events {
		if !slices.Contains(acts, e.Act) {
			return job.Invalid("events", "has the act %q; it must be one of %v", e.Act, acts)
		}
	}
	seen := map[job.Name]bool{}
	for i := range b.Jobs {
		p := &b.Jobs[i]
		field := "jobs[" + strconv.Itoa(i) + "]"
		switch _, err := job.ParseName(string(p.Job)); {
		case err != nil:
			return fmt.Errorf("%s: %w", field, err)
		case seen[p.Job]:
			return job.Invalid(field, "%s is there twice", p.Job)
		case !slices.Contains(states, p.State):
			return job.Invalid(field, "has the state %q; it must be one of %v", p.State, states)
		case p.Round < 1 || p.Round > MaxEvents+1 || p.AtOnce < 0 || p.AtOnce > b.AtOnce || p.Fires < 0 || p.Begun < 0:
			return job.Invalid(field, "has numbers out of range")
		}
		seen[p.Job] = true
	}
	return nil
}

// CheckID returns an *InvalidError unless id can name a backfill.
func CheckID(id string) error {
	if err := job.CheckSlug("id", id); err != nil {
		return err
	}
	if len(id) > MaxID {
		return job.Invalid("id", "has %d characters; at most %d are taken", len(id), MaxID)
	}
	return nil
}

// RoundID returns the id of the backfill of one job alone that a round of a part is.
func (b *Bulk) RoundID(round int) string { return b.ID + "-" + strconv.Itoa(round) }

// RoundIDs returns the ids of the first rounds of a part, oldest first.
func (b *Bulk) RoundIDs(rounds int) []string {
	ids := make([]string, rounds)
	for i := range ids {
		ids[i] = b.RoundID(i + 1)
	}
	return ids
}
