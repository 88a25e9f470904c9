package runlog

import (
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/job/reason"
)

// Hold says who has put a workflow's run on hold, and when. While it is, no step of the run begins.
type Hold struct {
	Since time.Time `json:"since"`
	By    string    `json:"by,omitempty"` // "" if nobody signed in
	Note  string    `json:"note,omitempty"`
	// ResumedAt is when ResumedBy has resumed the run; zero while it is on hold.
	ResumedAt time.Time `json:"resumed_at,omitzero"`
	ResumedBy string    `json:"resumed_by,omitempty"`
	// Change counts how often the run was put on hold or resumed: of two holds of a run, the one with more is the newer.
	Change int `json:"change"`
}

// Held reports whether the run is on hold. It is not if h is nil.
func (h *Hold) Held() bool { return h != nil && h.ResumedAt.IsZero() }

// Why returns why no step begins while the run is on hold.
func (h *Hold) Why() reason.Text {
	if h.By == "" {
		return reason.Text(reason.Join(reason.RunHeld.With(h.Since), h.Note))
	}
	return reason.Text(reason.Join(reason.RunHeldBy.With(h.By, h.Since), h.Note))
}

// Newer reports whether h is of a later change than other; nil is none.
func (h *Hold) Newer(other *Hold) bool {
	return h != nil && (other == nil || h.Change > other.Change)
}

// Text returns the hold as JSON; "" is that of nil.
func (h *Hold) Text() string {
	if h == nil {
		return ""
	}
	data, err := json.Marshal(h)
	if err != nil {
		return "" // an instant after the year 9999
	}
	return string(data)
}

// ReadHold is the inverse of [Hold.Text]. What is no hold is nil.
func ReadHold(text string) *Hold {
	h := &Hold{}
	if text == "" || json.Unmarshal([]byte(text), h) != nil {
		return nil
	}
	return h
}
