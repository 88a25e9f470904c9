package logstore

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of pages.
const (
	DefaultRuns  = 50
	MaxRuns      = 1000
	DefaultLines = 500
	MaxLines     = 10000
	MaxLastRuns  = 100
)

// ClocksApart is how far the clocks of servers may be apart: a run with a fire time so little ahead has begun.
const ClocksApart = 5 * time.Second

// RunFilter selects runs, each by its newest attempt as a whole. Each field that is set
// must hold; the zero filter is all.
type RunFilter struct {
	Jobs     []job.Name
	Group    string       // executor group
	Groups   []string     // one of these executor groups, or patterns of groups (job.InGroups); nil is any
	Statuses []job.Status // of [runlog.Run.RunStatus]; with AllAttempts, of Run.Status
	Causes   []job.Cause
	Instance string // or [runlog.AnyHost]
	Version  int
	From, To time.Time // fire time in [From, To)
	Parent   job.RunID // runs that run after this one
	// AllAttempts selects each attempt of a run, instead of the newest only.
	AllAttempts bool
	// MinAttempt selects attempts from this one on: with 2, runs that were tried again.
	MinAttempt int
	// Error selects what failed with this [Fingerprint].
	Error string

	// Sort is the order of a list. Any but the default needs From and To, 31 days apart at
	// most, and has one page: the first Limit runs.
	Sort   RunOrder
	Limit  int    // of Runs: from 1 to MaxRuns; defaults to DefaultRuns
	Cursor string // of Runs: where the page before ended
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *RunFilter) Validate() error {
	for _, name := range f.Jobs {
		if _, err := job.ParseName(string(name)); err != nil {
			return err
		}
	}
	if f.Group != "" {
		if err := job.CheckSlug("group", f.Group); err != nil {
			return err
		}
	}
	for _, g := range f.Groups {
		if err := job.CheckGroups("groups", g); err != nil {
			return err
		}
	}
	for _, s := range f.Statuses {
		if !slices.Contains(job.Statuses, s) {
			return job.Invalid("status", "%q must be one of %v", s, job.Statuses)
		}
	}
	for _, c := range f.Causes {
		if !slices.Contains(job.Causes, c) {
			return job.Invalid("cause", "%q must be one of %v", c, job.Causes)
		}
	}
	switch {
	case f.Version < 0:
		return job.Invalid("version", "must not be negative")
	case f.MinAttempt < 0:
		return job.Invalid("min_attempt", "must not be negative")
	case !f.From.IsZero() && !f.To.IsZero() && f.To.Before(f.From):
		return job.Invalid("to", "must not lie before from")
	case f.Limit < 0 || f.Limit > MaxRuns:
		return job.Invalid("limit", "must be from 1 to %d", MaxRuns)
	}
	if f.Parent != "" {
		if _, err := job.ParseRunID(string(f.Parent)); err != nil {
			return job.Invalid("parent", "must be a run id")
		}
	}
	if f.Cursor != "" {
		if _, err := ParseCursor(f.Cursor); err != nil {
			return err
		}
	}
	return f.Sort.check(f)
}

// RunPage is a part of a list of runs.
type RunPage struct {
	Runs []runlog.Run `json:"runs"`
	Next string       `json:"next,omitempty"` // the cursor of the next page; empty on the last
}

// Cursor is the last row of a page. The next page has the rows below it in the order
// (run_id, attempt).
type Cursor struct {
	RunID   job.RunID
	Attempt int
}

// CursorAt returns the cursor of a page that ends with r.
func CursorAt(r *runlog.Run) Cursor { return Cursor{RunID: r.RunID, Attempt: r.Attempt} }

// String returns the text that ParseCursor reads.
func (c Cursor) String() string { return fmt.Sprintf("%s.%d", c.RunID, c.Attempt) }

// ParseCursor reads [RunPage.Next]. Its error is an *InvalidError.
func ParseCursor(s string) (Cursor, error) {
	id, number, _ := strings.Cut(s, ".")
	attempt, err := strconv.Atoi(number)
	if _, idErr := job.ParseRunID(id); idErr != nil || err != nil || attempt < 1 || attempt > math.MaxInt32 {
		return Cursor{}, job.Invalid("cursor", "%s", refusal.CursorOfPage)
	}
	return Cursor{RunID: job.RunID(id), Attempt: attempt}, nil
}

// LineFilter selects lines of the log of one attempt, or of one piece of it.
type LineFilter struct {
	RunID   job.RunID
	Attempt int
	Piece   runlog.Piece
	// Job is whose run it is, as far as that is known: lines that others have written under
	// the run's id are left out. Empty is any.
	Job     job.Name
	FromSeq int64    // inclusive; 0 is the beginning
	ToSeq   int64    // inclusive; 0 is the end
	Levels  []string // empty is all
	Limit   int      // from 1 to MaxLines; defaults to DefaultLines
	Tail    bool     // the last Limit lines of the range instead of the first
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *LineFilter) Validate() error {
	if _, err := job.ParseRunID(string(f.RunID)); err != nil {
		return err
	}
	switch {
	case f.Attempt < 1 || f.Attempt > math.MaxInt32:
		return job.Invalid("attempt", "must be 1 or more")
	case f.Piece.Check() != nil:
		return f.Piece.Check()
	case f.FromSeq < 0:
		return job.Invalid("from_seq", "must not be negative")
	case f.ToSeq < 0 || f.ToSeq != 0 && f.ToSeq < f.FromSeq:
		return job.Invalid("to_seq", "must not be less than from_seq")
	case f.Limit < 0 || f.Limit > MaxLines:
		return job.Invalid("limit", "must be from 1 to %d", MaxLines)
	}
	return nil
}
