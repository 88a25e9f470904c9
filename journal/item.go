package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// DeferredKind says what a deferred item is for.
type DeferredKind string

// The kinds of deferred item.
const (
	// DeferredDelay is a fixed-delay job that waits for its next fire.
	DeferredDelay DeferredKind = "delay"
	// DeferredEnd is a fixed-delay job that waits for the end of RunID.
	DeferredEnd DeferredKind = "end"
	// DeferredAlive is a run that is with the executors, and to whose end its job's owner
	// will react.
	DeferredAlive DeferredKind = "alive"
	// DeferredQueued is a run that waits until others of its job have ended.
	DeferredQueued DeferredKind = "queued"
	// DeferredWaiting is a run that somebody has asked for at Due, and that has not been admitted yet.
	DeferredWaiting DeferredKind = "waiting"
	// DeferredRetry is a run that waits for its next attempt, until Due.
	DeferredRetry DeferredKind = "retry"
	// DeferredPieces is a run that is done in pieces, which wait, are with the executors,
	// or have ended; with Due, it waits for its next attempt.
	DeferredPieces DeferredKind = "pieces"
	// DeferredWorkflow is a run of a workflow that has begun, DeferredSteps how far it has come, and
	// DeferredResult what a step has returned that others may still ask for.
	DeferredWorkflow DeferredKind = "workflow"
	DeferredSteps    DeferredKind = "steps"
	DeferredResult   DeferredKind = "result"
	// DeferredExpected is a run that is done elsewhere: Reported is what pings have reported of it. The next one must
	// come by Due. DeferredEarly is a Ping, of Since, that waits until the fire of Due is decided. DeferredHeard
	// records that a ping of Job has come: up to Since, fires were skipped before. Due is the newest fire whose run has
	// ended unreported.
	DeferredExpected DeferredKind = "expected"
	DeferredEarly    DeferredKind = "early"
	DeferredHeard    DeferredKind = "heard"
	// DeferredChild is a letter to Job's owner: a run of a parent has ended, or one of Call, CallEnd and CallOff.
	DeferredChild DeferredKind = "child"
	// DeferredLetter is the same for a Job in a shard of another partition. It is on the subject of
	// the parent's shard, whose owner relays it: as a DeferredChild, with Letter.
	DeferredLetter DeferredKind = "letter"
	// DeferredFailures is how many runs in a row have ended badly.
	DeferredFailures DeferredKind = "failures"
	// DeferredSucceeded is the run of the latest fire that has succeeded, RunID, while runs of
	// earlier fires are alive, or may still begin, that need not be tried again.
	DeferredSucceeded DeferredKind = "succeeded"
	// DeferredBackfill is the list of the fires of a backfill, DeferredBackfilled how far
	// it has come.
	DeferredBackfill   DeferredKind = "backfill"
	DeferredBackfilled DeferredKind = "backfilled"
	// DeferredPause is a job that is to be paused, because of those.
	DeferredPause DeferredKind = "pause"
	// DeferredAsked is which runs a batch has made on command, so that a request which
	// comes again makes no second one.
	DeferredAsked DeferredKind = "asked"
)

// Deferred is something that a shard must do later and that cannot be derived from
// its schedules. It is written in the batch that made it necessary, and released
// in the batch that does it. Which fields it has depends on its kind.
type Deferred struct {
	Kind DeferredKind `json:"kind"`
	Job  job.Name     `json:"job,omitempty"`
	// Since is the instant from which a delay counts, or runs were asked for.
	Since time.Time `json:"since,omitzero"`
	RunID job.RunID `json:"run_id,omitempty"`
	// Due is when a retry, or a run that waits, is due.
	Due time.Time `json:"due,omitzero"`
	// Trigger is what a run is or will be triggered with, as [bus.AppendTrigger] encodes it;
	// CommittedAt is when it was, or began to wait.
	Trigger json.RawMessage `json:"trigger,omitempty"`
	// Pieces is how far a run has come that is done in them. A queued one has it when it
	// does again what has failed of another.
	Pieces *bus.Pieces `json:"pieces,omitempty"`
	// Given are parameters in the place of the job's, for a workflow. Steps is how far a run of one
	// has come. Step and Result are which step has returned what.
	Given json.RawMessage `json:"given,omitempty"`
	// Taken are the steps of a workflow that the run does not do again.
	Taken  map[string]bus.TakenStep `json:"taken,omitempty"`
	Steps  *Steps                   `json:"steps,omitempty"`
	Step   string                   `json:"step,omitempty"`
	Result json.RawMessage          `json:"result,omitempty"`
	// Backfill is fires of the past that are to be run, or how far that has come.
	Backfill *job.Backfill `json:"backfill,omitempty"`
	// Parent is how the parent of a child ended, Letter which item of a shard of another partition
	// said so. That item has a Letter too, whose sequence is 0: it is not known before it is stored.
	Parent *ParentEnd `json:"parent,omitempty"`
	Letter *LetterID  `json:"letter,omitempty"`
	// Call asks for a run of Job. CallEnd answers to the Job that called, CallOff ends a run of the called Job.
	// Caller is who called the run of an item.
	Call    *Call    `json:"call,omitempty"`
	CallEnd *CallEnd `json:"call_end,omitempty"`
	CallOff *CallOff `json:"call_off,omitempty"`
	Caller  *Caller  `json:"caller,omitempty"`
	// Lane is a hash of the value that the job's overlap key has for the run; "" if it has none.
	Lane string `json:"lane,omitempty"`
	// Told is of a run that is done elsewhere.
	Reported *PingState `json:"reported,omitempty"`
	Ping     *bus.Ping  `json:"ping,omitempty"`
	// Count is how many failures there were, Version the job's that is to be paused.
	Count   int    `json:"count,omitempty"`
	Version int    `json:"version,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Wish is what was asked for with a run that waits.
	Wish *Wish `json:"wish,omitempty"`
	// Asked is what became of runs that were asked for, at Since.
	Asked []Asked `json:"asked,omitempty"`
	// Key is the key of a run that is alive.
	Key *KeyedRun `json:"key,omitempty"`
}

// PingState is what pings have reported of a run that is done elsewhere.
type PingState struct {
	Key       string    `json:"key,omitempty"`
	Host      string    `json:"host,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"` // zero: it has not begun, as far as is known
	// Outage is true if the shard had no owner for part of the time in which the first ping had to come.
	Outage bool `json:"outage,omitempty"`
}

// Asked is what was answered to a request.
type Asked struct {
	ID job.RunID `json:"id"` // of the request; that of the run if a run was asked for
	// Key is the key under which the run was made, if it was under one.
	Key *KeyedRun `json:"key,omitempty"`
	bus.TriggerReply
}

// ParentEnd is what a child is told of its parent's run.
type ParentEnd struct {
	Job    job.Name   `json:"job"`
	RunID  job.RunID  `json:"run_id"`
	Status job.Status `json:"status"`
	// At is when the end was stored, by JetStream's clock.
	At     time.Time       `json:"at"`
	Params json.RawMessage `json:"params,omitempty"` // for the child
	Depth  int             `json:"depth"`            // of the child's run
}

// LetterID names an item that a shard has left for a shard of another partition.
type LetterID struct {
	From int        `json:"from"` // the shard
	At   LetterMark `json:"at"`
}

// LetterMark is the place of an item among those that a shard has left. Its text is short, as a
// cursor may have one for each shard.
type LetterMark struct {
	Made time.Time // [Cursor.Made] of the owner who left the item
	Seq  uint64    // of the item
}

// After reports whether an item was left later than that of another mark.
func (m LetterMark) After(o LetterMark) bool {
	return m.Made.After(o.Made) || m.Made.Equal(o.Made) && m.Seq > o.Seq
}

// MarshalText returns the Unix milliseconds of Made and, after a dot, Seq.
func (m LetterMark) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%d.%d", m.Made.UnixMilli(), m.Seq), nil
}

// UnmarshalText is the inverse of MarshalText. Its error is an *InvalidError.
func (m *LetterMark) UnmarshalText(text []byte) error {
	made, seq, _ := strings.Cut(string(text), ".")
	ms, err := strconv.ParseInt(made, 10, 64)
	if err == nil {
		m.Seq, err = strconv.ParseUint(seq, 10, 64)
	}
	if err != nil {
		return &job.InvalidError{Field: "letter", Reason: fmt.Sprintf("%q must be milliseconds.sequence", text)}
	}
	m.Made = time.UnixMilli(ms).UTC()
	return nil
}

// Msg returns d as a message for TRIG.
func (d *Deferred) Msg(shard int) (*nats.Msg, error) {
	of := *d
	of.Trigger = nil
	data, err := json.Marshal(&of)
	if err != nil {
		return nil, fmt.Errorf("encode deferred item of job %s: %w", d.Job, err)
	}
	if len(d.Trigger) > 0 { // which is encoded already, and may be long
		data = slices.Concat(data[:len(data)-1], []byte(`,"trigger":`), d.Trigger, []byte{'}'})
	}
	return bus.NewMessage(bus.SubjectDeferred(shard), bus.MessageDeferred, data), nil
}

// ErrLaterItem is the error for a deferred item of a kind that this program does not know. A newer one
// knows it, so the item must be kept.
var ErrLaterItem = errors.New("of a kind that this program does not know")

// DecodeDeferred is the inverse of [Deferred.Msg]. Its error is an *InvalidError, or [ErrLaterItem].
func DecodeDeferred(header nats.Header, data []byte) (*Deferred, error) {
	d := &Deferred{}
	if err := bus.Decode(header, bus.MessageDeferred, data, d); err != nil {
		return nil, err
	}
	if _, err := job.ParseName(string(d.Job)); err != nil && d.Kind != DeferredAsked {
		return nil, err
	}
	missing := ""
	switch d.Kind {
	case DeferredDelay, DeferredEnd, DeferredFailures, DeferredSucceeded, DeferredPause, DeferredAsked, DeferredHeard:
	case DeferredExpected:
		switch {
		case len(d.Trigger) == 0:
			missing = "trigger"
		case d.Reported == nil:
			missing = "reported"
		}
	case DeferredEarly:
		if d.Ping == nil {
			missing = "ping"
		} else if err := d.Ping.Check(); err != nil {
			return nil, err
		}
	case DeferredAlive, DeferredQueued, DeferredRetry, DeferredWorkflow:
		if len(d.Trigger) == 0 {
			missing = "trigger"
		}
		if d.Pieces != nil {
			if err := d.Pieces.Check(); err != nil {
				return nil, err
			}
		}
	case DeferredWaiting:
		return d, d.checkWaiting()
	case DeferredPieces:
		switch {
		case len(d.Trigger) == 0:
			missing = "trigger"
		case d.Pieces == nil:
			missing = "pieces"
		default:
			if err := d.Pieces.Check(); err != nil {
				return nil, err
			}
		}
	case DeferredSteps:
		if d.Steps == nil {
			missing = "steps"
		} else if err := d.Steps.check(); err != nil {
			return nil, err
		}
	case DeferredResult:
		if d.Step == "" {
			missing = "step"
		}
	case DeferredBackfill, DeferredBackfilled:
		if d.Backfill == nil {
			missing = "backfill"
		} else if err := checkBackfill(d.Backfill, d.Kind == DeferredBackfill); err != nil {
			return nil, err
		}
	case DeferredChild, DeferredLetter:
		switch {
		case d.Parent == nil && d.Call == nil && d.CallEnd == nil && d.CallOff == nil:
			missing = "parent"
		case d.Kind == DeferredLetter && d.Letter == nil:
			missing = "letter"
		case d.Letter != nil && (d.Letter.From < 0 || d.Letter.From >= bus.MaxShards):
			return nil, &job.InvalidError{Field: "letter.from", Reason: fmt.Sprintf("%d must be between 0 and %d", d.Letter.From, bus.MaxShards-1)}
		}
	default:
		return nil, fmt.Errorf("%w: %.60q", ErrLaterItem, d.Kind)
	}
	if missing != "" {
		return nil, &job.InvalidError{Field: missing, Reason: "is missing"}
	}
	return d, nil
}
