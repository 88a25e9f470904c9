package cluster

import (
	"fmt"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
)

// Edit says who changes something, when, and on what condition.
type Edit struct {
	// At is the instant from which the change holds.
	At     time.Time
	Author string
	Note   string
	// IfRevision makes the change conditional on the thing's present revision.
	// IfAbsent makes it conditional on there being none.
	IfRevision uint64
	IfAbsent   bool
	// KeepPause leaves a job that exists paused, or active, as it is.
	KeepPause bool
}

// Check returns job.ErrConflict if the condition of e does not hold for the stored document, at its
// present revision.
func (e Edit) Check(name string, exists bool, revision uint64) error {
	switch {
	case e.IfAbsent && exists:
		return fmt.Errorf("%w: %s", job.ErrConflict, reason.ExistsAlready.With(name))
	case e.IfRevision != 0 && (!exists || e.IfRevision != revision):
		return fmt.Errorf("%w: %s", job.ErrConflict, refusal.NotAtRevision.With(name, e.IfRevision))
	}
	return nil
}

// after returns from when the change holds, in whole milliseconds. It is later than the version before
// it, even when the clocks of two servers differ.
func (e Edit) after(before time.Time) time.Time {
	if at := e.At.UTC().Truncate(time.Millisecond); at.After(before) {
		return at
	}
	return before.Add(time.Millisecond)
}
