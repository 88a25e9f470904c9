package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Wish is what somebody has asked for with a run that waits until its instant.
type Wish struct {
	Cause job.Cause `json:"cause"` // manual, api or parent
	By    string    `json:"by,omitempty"`
	// Params and Labels, where there are any, take the place of those that the job has when the run is due.
	Params json.RawMessage `json:"params,omitempty"`
	Labels job.Labels      `json:"labels,omitempty"`
	// Expires is by when the run must have begun; zero: whenever it can.
	Expires time.Time `json:"expires,omitzero"`
	Key     *KeyedRun `json:"key,omitempty"`
	// Parent is the run whose code asked, and Depth how many runs are above the one that waits.
	Parent job.RunID `json:"parent,omitempty"`
	Depth  int       `json:"depth,omitempty"`
}

// checkWaiting returns an *InvalidError for an item of a run that waits which no server wrote.
func (d *Deferred) checkWaiting() error {
	if _, err := job.ParseRunID(string(d.RunID)); err != nil {
		return err
	}
	switch {
	case d.Wish == nil:
		return &job.InvalidError{Field: "wish", Reason: "is missing"}
	case d.Wish.Cause != job.CauseManual && d.Wish.Cause != job.CauseAPI && d.Wish.Cause != job.CauseParent:
		return &job.InvalidError{Field: "wish.cause", Reason: fmt.Sprintf("%q must be manual, api or parent", d.Wish.Cause)}
	case !d.RunID.Time().Equal(d.Due):
		return &job.InvalidError{Field: "due", Reason: "does not fit run_id"}
	}
	return nil
}
