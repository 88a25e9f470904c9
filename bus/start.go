package bus

import (
	"encoding/json"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// Bounds of what the code of a run may start.
const (
	// MaxStarts is how many runs that is, with all attempts and pieces of the run together.
	MaxStarts = 1000
	// MaxStartDepth is how many runs may be above one that code starts.
	MaxStartDepth = 8
	// maxStartRequest bounds a request, in bytes: its parameters, its labels, and the rest.
	maxStartRequest = job.MaxParams + 8<<10
)

// SubjectStart returns where executors of a group ask for runs that their handlers start, see
// [StartRequest]; group may be "*".
func SubjectStart(group string) string { return "start." + group }

// StartRequest asks any server for a run of a job, in the name of an attempt. Header [HeaderToken] has the
// token of the attempt's trigger, and [HeaderAck] the subject on which that is acknowledged. So servers find
// the trigger, which is there for as long as the attempt is alive. The answer is a [StartReply].
type StartRequest struct {
	Job job.Name `json:"job"`
	// Params and Labels, where there are any, take the place of the job's. In texts of Params, ${ has no meaning.
	Params json.RawMessage `json:"params,omitempty"`
	Labels job.Labels      `json:"labels,omitempty"`
	// At is when the run is due, or In after how long: one of them. Without, it is due now.
	At time.Time    `json:"at,omitzero"`
	In job.Duration `json:"in,omitempty"`
	// Expires is after how long, from when it is due, a run that has not begun is missed.
	Expires job.Duration `json:"expires,omitempty"`
	// Count is how many equal requests, of the same job with the same Params, the attempt has made before. Who
	// repeats a request that had no answer repeats its Count, and gets the run that the first one has started.
	Count int `json:"count,omitempty"`
}

// StartReply is the run that was started, now or by an equal request of the same run before.
type StartReply struct {
	RunID   job.RunID `json:"run_id"`
	Existed bool      `json:"existed,omitempty"`
}

// Msg returns the request of the attempt with that token, whose trigger is acknowledged on ack.
func (r *StartRequest) Msg(group, token, ack string) (*nats.Msg, error) {
	data, err := json.Marshal(r)
	return &nats.Msg{Subject: SubjectStart(group), Header: nats.Header{HeaderToken: {token}, HeaderAck: {ack}}, Data: data}, err
}

// DecodeStart reads a request. The error is an *InvalidError.
func DecodeStart(m *nats.Msg) (*StartRequest, error) {
	if len(m.Data) > maxStartRequest {
		return nil, job.Invalid("", "the request has %d bytes; at most %d are allowed", len(m.Data), maxStartRequest)
	}
	r := &StartRequest{}
	if err := json.Unmarshal(m.Data, r); err != nil {
		return nil, job.Invalid("", "the request is no start request: %v", err)
	}
	if _, err := job.ParseName(string(r.Job)); err != nil {
		return nil, err
	}
	switch {
	case len(r.Params) > job.MaxParams:
		return nil, job.Invalid("params", "has %d bytes; at most %d are allowed", len(r.Params), job.MaxParams)
	case r.Count < 0 || r.Count >= MaxStarts:
		return nil, job.Invalid("count", "%d must be between 0 and %d", r.Count, MaxStarts-1)
	case !r.At.IsZero() && r.In != 0:
		return nil, job.Invalid("in", "does not go with at")
	case r.In < 0 || r.In > job.Duration(MaxAhead):
		return nil, job.Invalid("in", "must be between 0s and %s", job.Duration(MaxAhead))
	case r.Expires < 0 || r.Expires > job.Duration(MaxAhead):
		return nil, job.Invalid("expires", "must be between 0s and %s", job.Duration(MaxAhead))
	}
	return r, r.Labels.Validate()
}

// Times returns when a run that is requested at now is due, zero for at once, and by when it must have begun,
// zero for no limit. The error is an *InvalidError.
func (r *StartRequest) Times(now time.Time) (due, expires time.Time, err error) {
	switch {
	case !r.At.IsZero():
		due = r.At.UTC().Truncate(time.Millisecond)
	case r.In > 0:
		due = now.Add(r.In.Std())
	}
	if !due.IsZero() && (due.Before(now.Add(-MaxOverdue)) || due.After(now.Add(MaxAhead))) {
		return due, expires, job.Invalid("at", "must be at most %s in the past and %s ahead", job.Duration(MaxOverdue), job.Duration(MaxAhead))
	}
	if r.Expires > 0 {
		expires = now.Add(r.Expires.Std())
		if due.After(now) {
			expires = due.Add(r.Expires.Std())
		}
	}
	return due, expires, nil
}
