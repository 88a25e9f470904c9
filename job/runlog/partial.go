package runlog

import "time"

// Partial says what an answer has that is not made of the whole history.
type Partial struct {
	// Since is the instant before which runs and lines may be missing; zero if none are.
	Since time.Time `json:"since,omitzero"`
	// AsOf is the instant up to which it has what was said.
	AsOf time.Time `json:"as_of"`
}
