package runlog

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/carillon-scheduler/carillon/job"
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
	return p.Check()
}

// Check returns an *InvalidError unless p can be a piece of a run.
func (p Piece) Check() error {
	if p < Whole || p > MaxPieces {
		return job.Invalid("broadcast_index", "must be between 0 and %d", MaxPieces-1)
	}
	return nil
}
