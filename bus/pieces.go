package bus

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Pieces is how far a run has come that is done in several pieces.
type Pieces struct {
	// States has a letter for each piece, in the order of their index; see [PieceWaiting]
	// and those that follow it. Empty: no instance has been there yet to do one.
	States string `json:"states"`
	// Instances are those for which the pieces of a broadcast are meant, Items what the
	// pieces of a split run are about. Either has one for each piece, or none at all.
	Instances []string          `json:"instances,omitempty"`
	Items     []json.RawMessage `json:"items,omitempty"`
	// Results are what pieces have returned that succeeded, for the job's children or the steps that
	// follow: as many as fit into [MaxResults] bytes, each at its index, and null for the others.
	Results []json.RawMessage `json:"results,omitempty"`
	// Cut says that a result did not fit.
	Cut bool `json:"cut,omitempty"`
	// Split is the attempt that listed the items, 0 when there was none.
	Split int `json:"split,omitempty"`
	// StartWithin is how long a piece may take to begin, zero for ever; StartBy is when pieces that have been triggered must have begun.
	StartWithin job.Duration `json:"start_within,omitempty"`
	StartBy     time.Time    `json:"start_by,omitzero"`
	// Cancelled says why the run is being called off.
	Cancelled string `json:"cancelled,omitempty"`
}

// MaxResults bounds [Pieces.Results], in bytes.
const MaxResults = 64 << 10

// The letters in [Pieces.States]. Upper case marks a bad end after which, by the
// job's rule, the next attempt may repeat the piece.
const (
	PieceWaiting   = 'w' // to be triggered
	PieceTriggered = 't' // with the executors
	PieceBegun     = 'b' // with an executor that has said that it runs
	PieceSucceeded = 's'
	PieceFailed    = 'f'
	PieceTimedOut  = 'o'
	PieceLost      = 'l'
	PieceCancelled = 'c'
	PieceMissed    = 'm'
)

// Check returns an *InvalidError when p is not a state that a machine wrote.
func (p *Pieces) Check() error {
	n := len(p.States)
	switch {
	case n > MaxPieces:
		return job.Invalid("pieces.states", "is longer than %d bytes", MaxPieces)
	case strings.Trim(p.States, "wtbsfFoOlLcm") != "":
		return job.Invalid("pieces.states", "is not valid")
	case len(p.Instances) != 0 && len(p.Instances) != n:
		return job.Invalid("pieces.instances", "has %d entries for %d pieces", len(p.Instances), n)
	case len(p.Results) > n:
		return job.Invalid("pieces.results", "has %d entries for %d pieces", len(p.Results), n)
	case len(p.Items) != 0 && len(p.Items) != n:
		return job.Invalid("pieces.items", "has %d entries for %d pieces", len(p.Items), n)
	}
	return nil
}
