package bus

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// TriggerRequest asks the owner of a job's shard for a run now.
type TriggerRequest struct {
	// RunID names the run. The asker chooses it, so that asking again after a lost
	// answer makes no second run.
	RunID job.RunID `json:"run_id"`
	Job   job.Name  `json:"job"`
	Cause job.Cause `json:"cause"` // manual, api, test, rerun, or parent: the code of a run asks
	// Params and Labels, where there are any, take the place of the job's.
	Params json.RawMessage `json:"params,omitempty"`
	Labels job.Labels      `json:"labels,omitempty"`
	By     string          `json:"by,omitempty"`
	// InsteadOf is the fire in whose place the run is wanted. The job's version says so, and
	// has the run made; the request asks only what became of it.
	InsteadOf time.Time `json:"instead_of,omitzero"`
	// Due is when the run is due, and its fire time: until then it waits. One that has passed, by at most
	// [MaxOverdue], and zero mean now. Then the id of the run is RunID, and else [job.LaterRunID].
	Due time.Time `json:"due,omitzero"`
	// Expires is by when the run must have begun; zero: whenever it can.
	Expires time.Time `json:"expires,omitzero"`
	// Key is a text for which the job makes one run, until [KeyFor] after that is due and while it is alive.
	Key string `json:"key,omitempty"`
	// Reset has a new run made although the key has one that has ended: the caller's own one only, if OwnKey is true.
	Reset  bool `json:"reset,omitempty"`
	OwnKey bool `json:"own_key,omitempty"`

	// Parent is the run whose code asks, with cause parent, and Depth how many runs are above the one that
	// it asks for. RunID is then a [job.StartID], and the id of the run a [job.LaterRunID].
	Parent job.RunID `json:"parent,omitempty"`
	Depth  int       `json:"depth,omitempty"`

	// Of a retry: the ended run that this one does again, whose fire time it has.
	RetryOf job.RunID `json:"retry_of,omitempty"`
	// Body is what the owner keeps of Version of the job, for a run of that version whatever the newest is.
	Body    json.RawMessage `json:"body,omitempty"`
	Version int             `json:"version,omitempty"`
	// Pieces are the pieces of the other run, for a retry: only those that wait are
	// run, and those that have succeeded count as succeeded. Nil makes new pieces.
	Pieces *Pieces `json:"pieces,omitempty"`
	// Taken are the steps of a workflow, by name, that are not run again.
	Taken map[string]TakenStep `json:"taken,omitempty"`
}

// TakenStep is a step that succeeded in an earlier run, and is not run again. Result is what it returned,
// if another step still refers to it.
type TakenStep struct {
	RunID  job.RunID       `json:"run_id"` // of the step
	Result json.RawMessage `json:"result,omitempty"`
}

// Validate returns an *InvalidError when r makes no sense.
func (r *TriggerRequest) Validate() error {
	if _, err := job.ParseRunID(string(r.RunID)); err != nil {
		return err
	}
	if err := r.checkKey(); err != nil {
		return err
	}
	switch r.Cause { //nolint:exhaustive // nobody asks for the others
	case job.CauseManual, job.CauseAPI, job.CauseTest:
		if r.RetryOf != "" || len(r.Body) > 0 || r.Pieces != nil || len(r.Taken) > 0 {
			return job.Invalid("retry_of", "is only for cause rerun")
		}
		return r.checkTimes()
	case job.CauseParent:
		return r.checkStart()
	case job.CauseRerun:
		if !r.Due.IsZero() || !r.Expires.IsZero() {
			return job.Invalid("due", "does not go with cause rerun")
		}
	default:
		return job.Invalid("cause", "%q must be manual, api, test, rerun or parent", r.Cause)
	}
	if _, err := job.ParseRunID(string(r.RetryOf)); err != nil {
		return job.Invalid("retry_of", "%q must be a run id", r.RetryOf)
	}
	switch {
	case !r.RunID.Time().Equal(r.RetryOf.Time()):
		return job.Invalid("run_id", "does not fit retry_of")
	case (len(r.Body) == 0) != (r.Version == 0) || r.Version < 0:
		return job.Invalid("version", "does not fit body")
	case len(r.Taken) > 0 && len(r.Body) == 0:
		return job.Invalid("taken", "needs body")
	case r.Pieces == nil:
		return nil
	}
	if err := r.Pieces.Check(); err != nil {
		return err
	}
	if p := r.Pieces.States; strings.Trim(p, "ws") != "" || !strings.Contains(p, "w") {
		return job.Invalid("pieces.states", "is not valid")
	}
	return nil
}

// checkStart returns an *InvalidError for a run that the code of another asks for, if that makes no sense.
// Nothing is compared with the time of RunID, which is the fire time of that run.
func (r *TriggerRequest) checkStart() error {
	switch _, err := job.ParseRunID(string(r.Parent)); {
	case err != nil:
		return job.Invalid("parent", "%q must be a run id", r.Parent)
	case !r.RunID.Time().Equal(r.Parent.Time()):
		return job.Invalid("run_id", "does not fit parent")
	case r.RetryOf != "" || len(r.Body) > 0 || r.Pieces != nil || len(r.Taken) > 0 || !r.InsteadOf.IsZero():
		return job.Invalid("retry_of", "does not go with cause parent")
	case r.Depth < 1 || r.Depth > MaxStartDepth:
		return job.Invalid("depth", "%d must be between 1 and %d", r.Depth, MaxStartDepth)
	case !r.Expires.IsZero() && !r.Expires.After(r.Due):
		return job.Invalid("expires", "must be after due")
	}
	return nil
}

// Bounds of when a run may be asked for, from when it is asked for.
const (
	MaxOverdue = 7 * 24 * time.Hour
	MaxAhead   = 366 * 24 * time.Hour
)

// checkTimes returns an *InvalidError for a run that is asked for at an instant that makes no sense, or
// in the place of a fire at another.
func (r *TriggerRequest) checkTimes() error {
	if r.Due.IsZero() && r.Expires.IsZero() {
		return nil
	}
	asked := r.RunID.Time()
	due := cmp.Or(r.Due, asked)
	switch {
	case r.Cause == job.CauseTest || !r.InsteadOf.IsZero():
		return job.Invalid("due", "does not go with cause test or instead_of")
	case due.Before(asked.Add(-MaxOverdue)) || due.After(asked.Add(MaxAhead)):
		return job.Invalid("due", "must be at most %s in the past and %s ahead", job.Duration(MaxOverdue), job.Duration(MaxAhead))
	case !r.Expires.IsZero() && !r.Expires.After(due):
		return job.Invalid("expires", "must be after due")
	case r.Expires.After(due.Add(MaxAhead)):
		return job.Invalid("expires", "must lie at most %s after due", job.Duration(MaxAhead))
	}
	return nil
}

const (
	// MaxKey is how many bytes a key may have.
	MaxKey = 256
	// KeyFor is how long a key is remembered after its run was due.
	KeyFor = 7 * 24 * time.Hour
)

// checkKey returns an *InvalidError for a key that is none, or does not go with the request.
func (r *TriggerRequest) checkKey() error {
	switch {
	case r.Key == "" && (r.Reset || r.OwnKey):
		return job.Invalid("reset", "needs key")
	case r.Key == "":
		return nil
	case len(r.Key) > MaxKey || !utf8.ValidString(r.Key):
		return job.Invalid("key", "must be at most %d bytes of UTF-8", MaxKey)
	case r.Cause != job.CauseManual && r.Cause != job.CauseAPI || !r.InsteadOf.IsZero():
		return job.Invalid("key", "is only for cause manual or api, without instead_of")
	}
	return nil
}

// TriggerReply says what was committed for the run.
type TriggerReply struct {
	RunID   job.RunID  `json:"run_id"`
	Version int        `json:"version"`
	Status  job.Status `json:"status"` // pending, queued or skipped
	Reason  string     `json:"reason,omitempty"`
	// Step and Round are those of the step of a [RecoverRequest] or a [WaitRequest]. If such a request is refused, there is
	// no Status.
	Step  string `json:"step,omitempty"`
	Round int    `json:"round,omitempty"`
	// Existed says that the request, or its key, came again: the answer is the one of before. Status is empty if only the
	// key is known any more.
	Existed bool `json:"existed,omitempty"`
	// Differs lists the fields that were others when the key came first, with commas. Then the request is refused.
	Differs string `json:"differs,omitempty"`
}

// CancelRequest asks the owner of a job's shard to end a run.
type CancelRequest struct {
	RunID  job.RunID `json:"run_id"`
	Job    job.Name  `json:"job"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	// Force cancels the finally steps of a workflow's run, too.
	Force bool `json:"force,omitempty"`
	// Status is timed_out of an attempt, Attempt, that nobody has ended in time: it ends at once,
	// whoever has it. Else the run is cancelled.
	Status  job.Status `json:"status,omitempty"`
	Attempt int        `json:"attempt,omitempty"`
}

// Text is the message of the run that was cancelled so.
func (r CancelRequest) Text() string {
	switch {
	case r.By != "" && r.Reason != "":
		return reason.CancelledByNote.With(r.By, r.Reason)
	case r.By != "":
		return reason.CancelledBy.With(r.By)
	case r.Reason != "":
		return reason.CancelledNote.With(r.Reason)
	}
	return reason.Cancelled.String()
}

// CancelReply says what became of the run.
type CancelReply struct {
	RunID job.RunID `json:"run_id"`
	// Found is where the run was: "queued" (it waited, perhaps for its next attempt),
	// "pending" (its trigger is deleted) or "running" (an instance was told to end it).
	// The instance records the end of a running run; that of the others is recorded
	// already.
	Found job.Status `json:"found"`
}

// KillRequest is the body of a [VerbKill] request, which all instances of a group get.
// Those that have the run accept it and say which pieces; the others answer
// [AnswerGone], and refuse the run should its trigger still reach them.
type KillRequest struct {
	RunID  job.RunID `json:"run_id"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
}

// DecodeKill reads the body of a [VerbKill] request. The error is an *InvalidError.
func DecodeKill(data []byte) (KillRequest, error) {
	var r KillRequest
	if err := json.Unmarshal(data, &r); err != nil {
		return r, job.Invalid("", "the request is no kill request: %v", err)
	}
	_, err := job.ParseRunID(string(r.RunID))
	return r, err
}

// Text is the message of the run that was ended so.
func (r KillRequest) Text() string {
	switch {
	case r.By != "" && r.Reason != "":
		return reason.RunCancelledByNote.With(r.By, r.Reason)
	case r.By != "":
		return reason.RunCancelledBy.With(r.By)
	case r.Reason != "":
		return reason.RunCancelledNote.With(r.Reason)
	}
	return reason.RunCancelled.String()
}

// reply is what travels back for every request: a value, or a fault.
type reply struct {
	Value json.RawMessage `json:"value,omitempty"`
	Fault *fault          `json:"fault,omitempty"`
}

// fault is an error on its way across the bus.
type fault struct {
	Kind     string              `json:"kind"` // which of package job's sentinels
	Text     string              `json:"text"`
	Problems []*job.InvalidError `json:"problems,omitempty"`
}

// Respond answers a request with value, or with err when that is not nil, which travels as its [job.KindOf].
func Respond(m *nats.Msg, value any, err error) error {
	var r reply
	if err != nil {
		r.Fault = &fault{Kind: job.KindOf(err), Text: err.Error(), Problems: job.Problems(err)}
	} else if r.Value, err = json.Marshal(value); err != nil {
		return fmt.Errorf("encode reply on %s: %w", m.Subject, err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode reply on %s: %w", m.Subject, err)
	}
	return m.Respond(data)
}

// HeaderJobsSeq is a header of requests to a shard's owner. It has a revision of JOBS:
// the owner must have read JOBS up to there before it answers.
const HeaderJobsSeq = "Carillon-Jobs-Seq"

// JobsSeq returns the revision up to which the owner of a shard must have read JOBS
// before it answers the request in m.
func JobsSeq(m *nats.Msg) uint64 {
	seq, _ := strconv.ParseUint(m.Header.Get(HeaderJobsSeq), 10, 64) // absent is 0
	return seq
}

// DecodeReply is the inverse of [Respond]: it reads a value, or returns the error.
func DecodeReply(m *nats.Msg, subject string, value any) error {
	var r reply
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return fmt.Errorf("decode reply on %s: %w", subject, err)
	}
	if r.Fault != nil {
		return r.Fault.err()
	}
	if err := json.Unmarshal(r.Value, value); err != nil {
		return fmt.Errorf("decode reply on %s: %w", subject, err)
	}
	return nil
}

func (f *fault) err() error {
	if len(f.Problems) > 0 {
		errs := make([]error, len(f.Problems))
		for i, p := range f.Problems {
			errs[i] = p
		}
		return errors.Join(errs...)
	}
	return &remoteError{text: f.Text, kind: job.OfKind(f.Kind)}
}

// remoteError keeps the text of an error from the other side and its kind.
type remoteError struct {
	text string
	kind error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.kind }
