package journal

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// Bounds of a backfill.
const (
	MaxBackfill       = 10_000 // fires of one
	MaxBackfillAtOnce = 1000
	// BackfillShown is how long a backfill that is over is still listed, and known.
	BackfillShown = 24 * time.Hour
)

// BackfillRequest asks the owner of a job's shard to run fires of the past.
type BackfillRequest struct {
	// ID names the backfill, as a slug. The asker chooses it, so that asking again changes nothing.
	ID  string   `json:"id"`
	Job job.Name `json:"job"`
	// Fires are their fire times in Unix milliseconds, in order.
	Fires  []int64 `json:"fires"`
	AtOnce int     `json:"at_once"` // how many of its runs may be alive
	By     string  `json:"by,omitempty"`
	Note   string  `json:"note,omitempty"`
}

// Validate returns an *InvalidError that names the field that is wrong.
func (r *BackfillRequest) Validate() error {
	if err := job.CheckSlug("id", r.ID); err != nil {
		return err
	}
	if _, err := job.ParseName(string(r.Job)); err != nil {
		return err
	}
	if len(r.Fires) == 0 || len(r.Fires) > MaxBackfill {
		return &job.InvalidError{Field: "fires", Reason: fmt.Sprintf("must have between 1 and %d entries", MaxBackfill)}
	}
	for i, at := range r.Fires {
		if at < 0 || i > 0 && at <= r.Fires[i-1] {
			return &job.InvalidError{Field: "fires", Reason: "must be in order, each after the one before"}
		}
	}
	if r.AtOnce < 1 || r.AtOnce > MaxBackfillAtOnce {
		return &job.InvalidError{Field: "at_once", Reason: fmt.Sprintf("%d must be between 1 and %d", r.AtOnce, MaxBackfillAtOnce)}
	}
	return nil
}

// BackfillsRequest asks for the backfills of a job; see [BackfillList].
type BackfillsRequest struct {
	Job job.Name `json:"job"`
	// Fires asks for the fires of unfinished backfills, too.
	Fires bool `json:"fires,omitempty"`
}

// BackfillList is the backfills of a job, oldest first: those that are not over, and
// those that ended within [BackfillShown].
type BackfillList struct {
	Backfills []job.Backfill `json:"backfills"`
}

// BackfillCancel asks for no further runs of a backfill.
type BackfillCancel struct {
	ID     string   `json:"id"`
	Job    job.Name `json:"job"`
	By     string   `json:"by,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// checkBackfill returns an *InvalidError when b is not a state that a machine wrote.
func checkBackfill(b *job.Backfill, withFires bool) error {
	switch {
	case job.CheckSlug("backfill.id", b.ID) != nil:
		return job.CheckSlug("backfill.id", b.ID)
	case b.Total < 1 || b.Total > MaxBackfill || withFires && len(b.Fires) != b.Total:
		return &job.InvalidError{Field: "backfill.total", Reason: fmt.Sprintf("%d must be %d", b.Total, len(b.Fires))}
	case b.Begun < 0 || b.Begun > b.Total:
		return &job.InvalidError{Field: "backfill.begun", Reason: fmt.Sprintf("%d must be between 0 and %d", b.Begun, b.Total)}
	}
	return nil
}
