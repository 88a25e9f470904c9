package logstore

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"carillon/job"
)

// Update is what one line of a record, or one event, says about one run. Its fire
// time is that of RunID. Fields that its kind does not speak of are ignored.
type Update struct {
	Kind    Kind // recorded, held, started, progress or finished
	RunID   job.RunID
	Job     job.Name
	Version int
	Attempt int // 1 for recorded
	Cause   job.Cause
	// At is when the record or the event was made.
	At time.Time
	// Status is pending, queued, skipped or missed when recorded; final, and neither
	// skipped nor missed, when finished; else empty.
	Status job.Status
	// CommittedAt is known to every event; of a record it is At.
	CommittedAt time.Time

	// Of recorded; of held and started, for the timeline only, why no instance takes the
	// run, or why this one got it.
	Reason string

	// Of recorded:
	By    string
	Until time.Time
	Count int // 0 counts as 1

	// Of started, progress and finished:
	Instance  string
	Delivery  int
	StartedAt time.Time

	// Of progress:
	Progress     float64
	ProgressText string

	// Of finished:
	FinishedAt time.Time // defaults to At
	ExitCode   *int
	Message    string
	Result     json.RawMessage
	LogLines   int
}

// Plain reports whether u is a record that tells nothing but that there is to be such
// a run: whatever is said of the run later, tells as much. A field that only records
// have belongs here.
func (u *Update) Plain() bool {
	return u.Kind == KindRecorded && (u.Status == job.StatusPending || u.Status == job.StatusQueued) &&
		u.Reason == "" && u.By == "" && u.Until.IsZero() && u.Count <= 1
}

// maxWord bounds texts that are names, in bytes.
const maxWord = 256

// Validate returns an *InvalidError when a store cannot hold u.
func (u *Update) Validate() error {
	if err := checkIdentity(u.RunID, u.Job, u.Attempt); err != nil {
		return err
	}
	switch {
	case u.At.IsZero():
		return invalid("at", "is missing")
	case !slices.Contains(job.Causes, u.Cause):
		return invalid("cause", "%q must be one of %v", u.Cause, job.Causes)
	case len(u.Instance) > maxWord:
		return invalid("instance", "is longer than %d bytes", maxWord)
	case u.Version < 0 || u.Delivery < 0 || u.Count < 0 || u.LogLines < 0:
		return invalid("version, delivery, count and log_lines", "must not be negative")
	case math.IsNaN(u.Progress) || math.IsInf(u.Progress, 0):
		return invalid("percent", "must be a number from 0 to 100")
	case len(u.Result) > 0 && !json.Valid(u.Result):
		return invalid("result", "must be JSON")
	}
	return u.checkStatus()
}

func (u *Update) checkStatus() error {
	switch u.Kind {
	case KindHeld, KindStarted, KindProgress:
	case KindRecorded:
		if !slices.Contains(recordedStatuses, u.Status) {
			return invalid("status", "%q must be one of %v in a record", u.Status, recordedStatuses)
		}
	case KindFinished:
		if !u.Status.Executed() {
			return invalid("status", "%q must be succeeded, failed, timed_out, cancelled or lost of a finished run", u.Status)
		}
	case KindLate:
		fallthrough
	default:
		return invalid("kind", "%q must be recorded, held, started, progress or finished", u.Kind)
	}
	return nil
}

var recordedStatuses = []job.Status{job.StatusPending, job.StatusQueued, job.StatusSkipped, job.StatusMissed}

func checkIdentity(id job.RunID, name job.Name, attempt int) error {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return err
	}
	if _, err := job.ParseName(string(name)); err != nil {
		return err
	}
	if attempt < 1 || attempt > math.MaxInt32 {
		return invalid("attempt", "must be 1 or more")
	}
	return nil
}

func invalid(field, format string, args ...any) error {
	return &job.InvalidError{Field: field, Reason: fmt.Sprintf(format, args...)}
}
