package fleet

import "time"

// DeadLetter is a message that ingest refused.
type DeadLetter struct {
	Sequence uint64    `json:"sequence"` // on the stream of dead letters
	At       time.Time `json:"at"`       // when it was refused
	Stream   string    `json:"stream"`   // from which it came
	Subject  string    `json:"subject"`  // on that stream
	Message  string    `json:"message,omitempty"`
	Reason   string    `json:"reason"`
	Size     int       `json:"size"` // of its data, in bytes
	// Whole says that the letter has all of it.
	Whole bool `json:"whole"`
}
