package runlog

import (
	"encoding/json"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Wait is what a step of a workflow has begun to wait for, with all references replaced. What it has is never
// changed, but that approvals are added.
type Wait struct {
	Kind WaitKind `json:"kind"`
	// Since is when the step began to wait, At when it is over if it waits for time alone, and Expires when it times out
	// if nothing has come; zero is never.
	Since   time.Time `json:"since,omitzero"`
	At      time.Time `json:"at,omitzero"`
	Expires time.Time `json:"expires_at,omitzero"`
	// Signal is the name of the awaited signal, Key the text that it has to come with; "" is none.
	Signal string `json:"signal,omitempty"`
	Key    string `json:"key,omitempty"`
	// By lists who may approve, as user:NAME or role:ROLE; NotByRequester says that who has asked for the run may
	// not; Min is how many have to. Approvals are those that were given.
	By             []string   `json:"by,omitempty"`
	NotByRequester bool       `json:"not_by_requester,omitempty"`
	Min            int        `json:"min,omitempty"`
	Approvals      []Approval `json:"approvals,omitempty"`
	// Runs are the awaited runs.
	Runs *AwaitedRuns `json:"runs,omitempty"`
}

// WaitKind says what is waited for.
type WaitKind string

// The kinds of waits.
const (
	WaitTime     WaitKind = "time"
	WaitSignal   WaitKind = "signal"
	WaitApproval WaitKind = "approval"
	WaitRuns     WaitKind = "runs"
)

// WaitKinds lists all kinds of waits.
var WaitKinds = []WaitKind{WaitTime, WaitSignal, WaitApproval, WaitRuns}

// Approval is what one person has said.
type Approval struct {
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	Note string    `json:"note,omitempty"`
}

// AwaitedRuns are the runs of a job that are waited for: of its fires from From to before To, or of the Last before
// the fire time of the step.
type AwaitedRuns struct {
	Job  job.Name  `json:"job"`
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	Last int       `json:"last,omitempty"`
	// Need is how many of the fires are enough; "" is all. Skipped is [job.SkippedOK] or [job.SkippedBad].
	Need    job.Need `json:"need,omitempty"`
	Skipped string   `json:"skipped,omitempty"`
}

// Wakes returns when the wait ends if nothing comes: At, or Expires; zero is never.
func (w *Wait) Wakes() time.Time {
	if w.Kind == WaitTime {
		return w.At
	}
	return w.Expires
}

// Text returns the wait as JSON; "" is that of nil. Of two texts of one wait the longer one is the newer.
func (w *Wait) Text() string {
	if w == nil {
		return ""
	}
	data, err := json.Marshal(w)
	if err != nil {
		return "" // an instant after the year 9999
	}
	return string(data)
}

// ReadWait is the inverse of [Wait.Text]. What is no wait is nil.
func ReadWait(text string) *Wait {
	w := &Wait{}
	if text == "" || json.Unmarshal([]byte(text), w) != nil {
		return nil
	}
	return w
}
