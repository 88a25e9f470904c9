package logstore

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Update is what one line of a record, or one event, says about one run. Its fire
// time is that of RunID. Fields that its kind does not speak of are ignored.
type Update struct {
	Kind    runlog.Kind // recorded, held, started, progress, finished or marked
	RunID   job.RunID
	Job     job.Name
	Version int
	Attempt int
	// Piece is what it is about. Of a run that is done in pieces, Total is how many.
	Piece runlog.Piece
	Total int
	Cause job.Cause
	// At is when the record or the event was made.
	At time.Time
	// Status is any but running when recorded; final, and not skipped, when finished; what
	// the run has ended as when marked; else empty.
	Status job.Status
	// CommittedAt is known to every event; of a record it is At.
	CommittedAt time.Time

	// Of recorded; of held and started, for the timeline only, why no instance takes the
	// run, or why this one got it; of marked the note. If the update was heard, it takes the place of
	// the reason why the run waited.
	Reason string

	// Of recorded and marked:
	By string

	// Of marked, which adds to the timeline and changes nothing else.
	Mark job.Mark

	// Of recorded:
	Parent job.RunID
	Step   string // of the workflow whose run is Parent
	Wait   *runlog.Wait
	Until  time.Time
	Count  int // 0 counts as 1

	// Of recorded, and of started without an instance, of a workflow's run:
	Hold *runlog.Hold

	// Of started, progress and finished. A started update without an instance says that
	// a piece of the run has begun, and so has the run: the earliest counts.
	Instance    string
	Delivery    int
	DeliveredAt time.Time // zero where it is not known, or there is no StartedAt
	StartedAt   time.Time

	// Of progress:
	Progress     float64
	ProgressText string

	// Of finished:
	FinishedAt time.Time // defaults to At
	Retry      bool      // another attempt follows, unless a record says otherwise
	ExitCode   *int
	Message    string
	Result     json.RawMessage
	LogLines   int
}

// Plain reports whether u is a record that says only that the run exists: any later
// update says as much. If you add a field that only records have, check it here.
func (u *Update) Plain() bool {
	return u.Kind == runlog.KindRecorded && u.Status == job.StatusPending &&
		u.Reason == "" && u.By == "" && u.Until.IsZero() && u.Count <= 1 && u.Parent == "" && u.Step == "" && u.Wait == nil && u.Hold == nil && u.Total == 0
}

// Heard reports whether u is by a ping for which the run waited: it was begun elsewhere, or has ended.
func (u *Update) Heard() bool {
	return (u.Kind == runlog.KindStarted || u.Kind == runlog.KindFinished) && u.Cause != job.CausePing && runlog.IsHost(u.Instance)
}

// Tells returns the status in which the run, or its piece, is by what u says.
func (u *Update) Tells() job.Status {
	switch u.Kind {
	case runlog.KindHeld:
		return job.StatusPending
	case runlog.KindStarted, runlog.KindProgress:
		return job.StatusRunning
	case runlog.KindRecorded, runlog.KindFinished, runlog.KindLate, runlog.KindMarked, runlog.KindOnHold, runlog.KindResumed:
	}
	return u.Status
}

// Committed returns when the attempt was committed by what u says: never yet, which is the
// zero time, by a record that holds it back.
func (u *Update) Committed() time.Time {
	switch {
	case u.Kind != runlog.KindRecorded:
		return u.CommittedAt
	case u.Status == job.StatusQueued:
		return time.Time{}
	}
	return u.At
}

// Queued returns when the attempt began to wait by what u says; zero if u does not say that it waits.
func (u *Update) Queued() time.Time {
	if u.Kind == runlog.KindRecorded && u.Status == job.StatusQueued {
		return u.At
	}
	return time.Time{}
}

// Earlier reports whether u has an earlier start than other. Of two starts at the same
// instant, one without a known delivery is the later one.
func (u *Update) Earlier(other *Update) bool {
	if !u.StartedAt.Equal(other.StartedAt) {
		return u.StartedAt.Before(other.StartedAt)
	}
	return !u.DeliveredAt.IsZero() && (other.DeliveredAt.IsZero() || u.DeliveredAt.Before(other.DeliveredAt))
}

// HeldSlot returns by what a store tells held updates of an attempt from each other: nobody took a
// delivery, or an instance had it and died.
func HeldSlot(instance string, delivery int) int64 {
	if instance != "" {
		return int64(delivery) | 1<<32
	}
	return int64(delivery)
}

// Validate returns an *InvalidError when a store cannot hold u.
func (u *Update) Validate() error {
	if err := runlog.CheckIdentity(u.RunID, u.Job, u.Attempt, u.Piece); err != nil {
		return err
	}
	switch {
	case u.At.IsZero():
		return job.Invalid("at", "is missing")
	case u.Total < 0 || u.Total > runlog.MaxPieces || u.Piece != runlog.Whole && u.Piece.Index() >= u.Total:
		return job.Invalid("broadcast_total", "must be above broadcast_index and at most %d", runlog.MaxPieces)
	case !slices.Contains(job.Causes, u.Cause):
		return job.Invalid("cause", "%q must be one of %v", u.Cause, job.Causes)
	case len(u.Instance) > runlog.MaxWord:
		return job.Invalid("instance", "is longer than %d bytes", runlog.MaxWord)
	case u.Version < 0 || u.Delivery < 0 || u.Count < 0 || u.LogLines < 0:
		return job.Invalid("version/delivery/count/log_lines", "must not be negative")
	case math.IsNaN(u.Progress) || math.IsInf(u.Progress, 0):
		return job.Invalid("percent", "must be a number from 0 to 100")
	case len(u.Result) > 0 && !json.Valid(u.Result):
		return job.Invalid("result", "must be JSON")
	case u.Parent != "":
		if _, err := job.ParseRunID(string(u.Parent)); err != nil {
			return job.Invalid("parent_run_id", "must be a run id")
		}
	}
	return u.checkStatus()
}

func (u *Update) checkStatus() error {
	switch u.Kind {
	case runlog.KindHeld, runlog.KindStarted, runlog.KindProgress:
	case runlog.KindMarked:
		if u.Piece != runlog.Whole {
			return job.Invalid("broadcast_index", "must be absent")
		}
		if !u.Status.Marks() {
			return job.Invalid("status", "%q must be failed, timed_out, cancelled, lost or missed", u.Status)
		}
		return job.CheckMark(u.Mark, u.Reason)
	case runlog.KindOnHold, runlog.KindResumed:
		if u.Piece != runlog.Whole {
			return job.Invalid("broadcast_index", "must be absent")
		}
		if u.Status != job.StatusPending && u.Status != job.StatusRunning {
			return job.Invalid("status", "%q must be pending or running", u.Status)
		}
	case runlog.KindRecorded:
		return u.checkRecorded()
	case runlog.KindFinished:
		if !u.Status.Executed() && u.Status != job.StatusMissed {
			return job.Invalid("status", "%q must be succeeded, failed, timed_out, cancelled, lost or missed", u.Status)
		}
	case runlog.KindLate:
		fallthrough
	default:
		return job.Invalid("kind", "%q must be recorded, held, started, progress, finished, marked, on_hold or resumed", u.Kind)
	}
	return nil
}

// checkRecorded returns an *InvalidError unless the status is one that a record can state.
func (u *Update) checkRecorded() error {
	if u.Status == job.StatusRunning || !slices.Contains(job.Statuses, u.Status) {
		return job.Invalid("status", "%q must be one of %v, without running", u.Status, job.Statuses)
	}
	return nil
}
