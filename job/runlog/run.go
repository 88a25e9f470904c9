package runlog

import (
	"cmp"
	"encoding/json"
	"math"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Run is one row of history: one attempt of a run, one piece of such an attempt, or
// several fires with one outcome. Instants have millisecond precision and are zero while
// they have not come.
type Run struct {
	RunID   job.RunID `json:"run_id"`
	Job     job.Name  `json:"job"`
	Version int       `json:"version"`
	Attempt int       `json:"attempt"` // counts from 1
	// Piece is which part of a run that is done in Total pieces, or the whole.
	Piece Piece `json:"broadcast_index,omitzero"`
	Total int   `json:"broadcast_total,omitempty"` // 0 when it is not done in pieces
	// Status is that of the attempt, or of the piece.
	Status job.Status `json:"status"`
	// Retrying says that the attempt has ended but the run has not, as another attempt
	// follows. It is true until that one, or that there is none after all, is recorded.
	Retrying bool      `json:"retrying,omitempty"`
	Cause    job.Cause `json:"cause"`
	// Parent is the run after which this one runs.
	Parent job.RunID `json:"parent_run_id,omitempty"`
	// Step is which step of the workflow this is, whose run is Parent.
	Step string `json:"step,omitempty"`
	// Wait is what the step has begun to wait for, if it waits in the place of a task; else nil.
	Wait *Wait `json:"wait,omitempty"`
	// Hold is who has put the run on hold last, if it is one of a workflow; nil if nobody has.
	Hold *Hold `json:"hold,omitempty"`
	// FireTime is always RunID's time. Of several fires it is the first.
	FireTime    time.Time `json:"fire_time"`
	QueuedAt    time.Time `json:"queued_at,omitzero"`    // when the decision became durable that it waits; zero of one that never waited
	CommittedAt time.Time `json:"committed_at,omitzero"` // when its trigger, or the reason against it, became durable
	DeliveredAt time.Time `json:"delivered_at,omitzero"` // when Instance got the trigger that it began at StartedAt; zero if its executor does not tell
	StartedAt   time.Time `json:"started_at,omitzero"`
	FinishedAt  time.Time `json:"finished_at,omitzero"`
	// FirstDecidedAt and FirstStartedAt are when any of the run's attempts was decided and
	// began first. They are set where a later attempt stands for the run: in lists of runs.
	FirstDecidedAt time.Time `json:"first_decided_at,omitzero"`
	FirstStartedAt time.Time `json:"first_started_at,omitzero"`
	// Instance ran it last; Delivery counts how often its trigger was handed out.
	Instance string          `json:"instance,omitempty"`
	Reported bool            `json:"reported,omitempty"` // done elsewhere: somebody who holds a token of the job has told of it, from the host in Instance
	Delivery int             `json:"delivery,omitempty"`
	ExitCode *int            `json:"exit_code,omitempty"`
	Message  reason.Text     `json:"message,omitempty"` // why it failed
	Reason   reason.Text     `json:"reason,omitempty"`  // why there was none, why it was late or what it waits for, why it ended without an executor's word
	By       string          `json:"by,omitempty"`      // who asked for it
	Result   json.RawMessage `json:"result,omitempty"`  // only a single run has it: it may be long
	LogLines int             `json:"log_lines,omitempty"`
	// Count is how many fires share this outcome, from FireTime to Until. It is 1 or
	// more; Until is zero when it is 1.
	Count        int       `json:"count"`
	Until        time.Time `json:"until,omitzero"`
	Progress     float64   `json:"percent,omitempty"` // 0 to 100
	ProgressText string    `json:"text,omitempty"`
}

// RunStatus is the status of the run as r tells it, if r is its newest attempt: queued
// while that has ended but another is to follow. Filters and counts go by it.
func (r *Run) RunStatus() job.Status {
	if r.Retrying {
		return job.StatusQueued
	}
	return r.Status
}

// StepStatus is how the step of a workflow ended of whose run r tells. A step fails if the run that it called was
// skipped, and has timed out if that was cancelled because it took too long.
func (r *Run) StepStatus() job.Status {
	s := r.RunStatus()
	switch {
	case r.Cause != job.CauseParent: // the step called nothing, or did not begin
	case s == job.StatusSkipped:
		return job.StatusFailed
	case s == job.StatusCancelled && reason.Read(string(cmp.Or(r.Reason, r.Message))).Code == reason.CallTimedOut.Code:
		return job.StatusTimedOut
	}
	return s
}

// DecidedAt is when the scheduler's first decision on the attempt became durable: that it is
// triggered, that there is none, or that it waits first. It is zero where none is known.
func (r *Run) DecidedAt() time.Time {
	if r.CommittedAt.IsZero() || !r.QueuedAt.IsZero() && r.QueuedAt.Before(r.CommittedAt) {
		return r.QueuedAt
	}
	return r.CommittedAt
}

// RunDecidedAt is DecidedAt of the first attempt of the run, if r stands for the run.
func (r *Run) RunDecidedAt() time.Time { return orOwn(r.FirstDecidedAt, r.DecidedAt()) }

// RunStartedAt is when the run began, if r stands for it.
func (r *Run) RunStartedAt() time.Time { return orOwn(r.FirstStartedAt, r.StartedAt) }

func orOwn(first, own time.Time) time.Time {
	if first.IsZero() {
		return own
	}
	return first
}

// Kind says what an update tells, or what happened at a point of a timeline.
type Kind string

// The kinds of updates and changes.
const (
	KindRecorded Kind = "recorded" // a shard decided: any status but running
	KindStarted  Kind = "started"  // an instance began the attempt
	KindProgress Kind = "progress" // how far it has come
	KindFinished Kind = "finished" // it has ended
	KindHeld     Kind = "held"     // no instance takes it for now
	KindLate     Kind = "late"     // changes only: another final status, after the first
	KindMarked   Kind = "marked"   // somebody marked its end as handled
	KindOnHold   Kind = "on_hold"  // somebody put it on hold
	KindResumed  Kind = "resumed"  // somebody resumed it
)

// TimelineOnly reports whether an update of the kind adds to the timeline and changes nothing else.
func (k Kind) TimelineOnly() bool { return k == KindMarked || k == KindOnHold || k == KindResumed }

// Change is one point on the timeline of a run, or of a piece of it.
type Change struct {
	RunID    job.RunID   `json:"run_id"`
	Job      job.Name    `json:"job"`
	Attempt  int         `json:"attempt"`
	Piece    Piece       `json:"broadcast_index,omitzero"`
	At       time.Time   `json:"at"`
	Kind     Kind        `json:"kind"`
	Status   job.Status  `json:"status,omitempty"` // that the run had from then on; of a late change, the one that came too late
	Instance string      `json:"instance,omitempty"`
	Delivery int         `json:"delivery,omitempty"`
	Progress float64     `json:"percent,omitempty"`
	Detail   reason.Text `json:"detail,omitempty"` // reason, message, progress text, note, or why this instance and no other
	Mark     job.Mark    `json:"mark,omitempty"`   // of a marked change
	By       string      `json:"by,omitempty"`     // who marked, held or resumed it
}

// Line is one line of the log of an attempt, or of a piece of it, without its end.
type Line struct {
	RunID   job.RunID `json:"run_id"`
	Job     job.Name  `json:"job"`
	Attempt int       `json:"attempt"`
	Piece   Piece     `json:"broadcast_index,omitzero"`
	Seq     int64     `json:"seq"` // counts from 1 within the attempt or the piece
	At      time.Time `json:"at"`
	Level   string    `json:"level"`  // debug, info, warn or error
	Output  string    `json:"output"` // stdout, stderr, log or system
	Text    string    `json:"text"`
}

// Validate returns an *InvalidError when a store cannot hold l.
func (l *Line) Validate() error {
	if err := CheckIdentity(l.RunID, l.Job, l.Attempt, l.Piece); err != nil {
		return err
	}
	switch {
	case l.Seq < 1:
		return job.Invalid("seq", "must be 1 or more")
	case l.At.IsZero():
		return job.Invalid("at", "is missing")
	case len(l.Level) > MaxWord:
		return job.Invalid("level", "is longer than %d bytes", MaxWord)
	case len(l.Output) > MaxWord:
		return job.Invalid("output", "is longer than %d bytes", MaxWord)
	}
	return nil
}

// MaxWord bounds texts that are names, in bytes.
const MaxWord = 256

// CheckIdentity returns an *InvalidError unless these can name an attempt, or a piece of it.
func CheckIdentity(id job.RunID, name job.Name, attempt int, piece Piece) error {
	if _, err := job.ParseRunID(string(id)); err != nil {
		return err
	}
	if _, err := job.ParseName(string(name)); err != nil {
		return err
	}
	if attempt < 1 || attempt > math.MaxInt32 {
		return job.Invalid("attempt", "must be 1 or more")
	}
	return piece.Check()
}
