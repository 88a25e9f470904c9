package logstore

import (
	"encoding/json"
	"fmt"
	"strconv"

	"carillon/job"
)

// Piece says what part of a run's attempt something is about: 0 is the attempt as a
// whole, n the piece with broadcast index n-1. In JSON it is the index, and a whole
// has none.
type Piece int

// Whole is a run's attempt as a whole: all that there is of most runs.
const Whole Piece = 0

// MaxPieces bounds the pieces of one run.
const MaxPieces = 10_000

// PieceAt returns the piece with a broadcast index.
func PieceAt(index int) Piece { return Piece(index + 1) }

// Index returns the broadcast index of a piece. The whole has none: it is -1.
func (p Piece) Index() int { return int(p) - 1 }

// MarshalJSON writes the broadcast index of a piece.
func (p Piece) MarshalJSON() ([]byte, error) {
	if p == Whole {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(p.Index()), 10), nil
}

// UnmarshalJSON reads a broadcast index, or null for the whole.
func (p *Piece) UnmarshalJSON(data []byte) error {
	var index *int
	if err := json.Unmarshal(data, &index); err != nil {
		return fmt.Errorf("read broadcast_index: %w", err)
	}
	*p = Whole
	if index != nil {
		*p = PieceAt(*index)
	}
	return p.check()
}

func (p Piece) check() error {
	if p < Whole || p > MaxPieces {
		return invalid("broadcast_index", "must be from 0 to %d", MaxPieces-1)
	}
	return nil
}

// PieceFilter selects pieces of a run.
type PieceFilter struct {
	RunID job.RunID
	// Attempt is which attempt's pieces. 0 is the newest of each: a further attempt may
	// repeat only some of the pieces.
	Attempt int
	From    Piece // the first; Whole is the beginning
	Limit   int   // from 1 to MaxRuns; defaults to MaxRuns
}

// Validate returns an *InvalidError that names the first field that is wrong.
func (f *PieceFilter) Validate() error {
	if _, err := job.ParseRunID(string(f.RunID)); err != nil {
		return err
	}
	switch {
	case f.Attempt < 0:
		return invalid("attempt", "must not be negative")
	case f.Limit < 0 || f.Limit > MaxRuns:
		return invalid("limit", "must be from 1 to %d", MaxRuns)
	}
	return f.From.check()
}

// PiecePage is some of the pieces of a run, in the order of their index. Pieces of
// which nothing was heard yet are not among them.
type PiecePage struct {
	Pieces []Run              `json:"pieces"`
	Next   Piece              `json:"next,omitzero"` // From of the next page; Whole on the last
	Counts map[job.Status]int `json:"counts"`        // of all pieces that the filter selects, by [Run.RunStatus]
}

// EndEarlier ends, among all attempts of a run, those that were done in pieces and after
// which another has followed. The ends of their pieces are known; that of the whole nobody
// says, as the run goes on. Attempts are the newest first.
func EndEarlier(attempts []Run) {
	for i := 1; i < len(attempts); i++ {
		if r, next := &attempts[i], &attempts[i-1]; r.Total > 0 && !r.Status.Final() {
			r.Status, r.Retrying, r.FinishedAt = job.StatusFailed, true, next.CommittedAt
		}
	}
}
