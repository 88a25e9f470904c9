package logstore

import (
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// PieceFilter selects pieces of a run.
type PieceFilter struct {
	RunID job.RunID
	// Attempt is which attempt's pieces. 0 is the newest of each: a further attempt may
	// repeat only some of the pieces.
	Attempt int
	From    runlog.Piece // the first; Whole is the beginning
	Limit   int          // from 1 to MaxRuns; defaults to MaxRuns
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *PieceFilter) Validate() error {
	if _, err := job.ParseRunID(string(f.RunID)); err != nil {
		return err
	}
	switch {
	case f.Attempt < 0:
		return job.Invalid("attempt", "must not be negative")
	case f.Limit < 0 || f.Limit > MaxRuns:
		return job.Invalid("limit", "must be from 1 to %d", MaxRuns)
	}
	return f.From.Check()
}

// PiecePage is some of the pieces of a run, in the order of their index. Pieces without
// any update yet are not among them.
type PiecePage struct {
	Pieces []runlog.Run       `json:"pieces"`
	Next   runlog.Piece       `json:"next,omitzero"` // From of the next page; Whole on the last
	Counts map[job.Status]int `json:"counts"`        // of all pieces that the filter selects, by [runlog.Run.RunStatus]
}

// EndEarlier ends, among all attempts of a run, those that were done in pieces and after
// which another has followed. The ends of their pieces are known; that of the whole nobody
// says, as the run goes on. Attempts are the newest first.
func EndEarlier(attempts []runlog.Run) {
	for i := 1; i < len(attempts); i++ {
		if r, next := &attempts[i], &attempts[i-1]; r.Total > 0 && !r.Status.Final() {
			r.Status, r.Retrying, r.FinishedAt = job.StatusFailed, true, next.CommittedAt
		}
	}
}
