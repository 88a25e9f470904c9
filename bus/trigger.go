package bus

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// AckWait is how long a trigger that was delivered may go without a sign of life
// before JetStream gives it to another executor. Executors say "in progress" at a
// third of it.
const AckWait = 15 * time.Second

// Trigger asks an executor group for one attempt of a run.
type Trigger struct {
	RunID       job.RunID `json:"run_id"`
	Job         job.Name  `json:"job"`
	Version     int       `json:"version"`
	Shard       int       `json:"shard"`
	Attempt     int       `json:"attempt"`
	Cause       job.Cause `json:"cause"`
	FireTime    time.Time `json:"fire_time"`
	CommittedAt time.Time `json:"committed_at"`
	// StartBy is the instant by which the attempt must begin, EndBy that by which it must
	// end, with all attempts of the run. Zero is no limit.
	StartBy time.Time `json:"start_by,omitzero"`
	EndBy   time.Time `json:"end_by,omitzero"`
	// ParentRun is the run after which this one runs, Depth how many are above it. Of a step it is the
	// run of the workflow, and Step its name.
	ParentRun job.RunID `json:"parent_run_id,omitempty"`
	Depth     int       `json:"depth,omitempty"`
	Step      string    `json:"step,omitempty"`
	Piece
	// Prefer is the instance for which a piece of a broadcast is meant. Another may run
	// it when that one is gone.
	Prefer string `json:"prefer,omitempty"`
	// Split asks for a list of the run's pieces, as the result, rather than for its work.
	Split bool `json:"split,omitempty"`
	// Item is what the job's splitting attempt listed for a piece; it may be any JSON value.
	Item json.RawMessage `json:"item,omitempty"`
	// Keyed says that the run has a key, so that the owner of its job's shard watches it.
	Keyed bool `json:"keyed,omitempty"`
	// Report is where the end of the attempt may go in a pack with others, see [Ends]. Empty: its end is an
	// event of its own, on [SubjectEvent].
	Report string `json:"report,omitempty"`
	TriggerBody
}

// Work names what the attempt is of: its job, or its step. Who remembers how runs of a job went before
// does so by this name, as the steps of a workflow are as different as jobs.
func (t *Trigger) Work() job.Name {
	if t.Step == "" {
		return t.Job
	}
	return t.Job + "/" + job.Name(t.Step)
}

// Piece says which part of a run that is done in several pieces a message is about.
// They are numbered as XXL-JOB numbers them: from 0 to Total-1. Total is 0 when the
// run is not done in pieces, and in what is said of such a run as a whole.
type Piece struct {
	Index int `json:"broadcast_index,omitempty"`
	Total int `json:"broadcast_total,omitempty"`
}

// MaxPieces bounds [Piece.Total].
const MaxPieces = job.MaxPieces

// check returns an *InvalidError when there is no such piece.
func (p Piece) check() error {
	if p.Total < 0 || p.Total > MaxPieces {
		return job.Invalid("broadcast_total", "%d must be between 0 and %d", p.Total, MaxPieces)
	}
	if p.Index < 0 || p.Index >= max(p.Total, 1) {
		return job.Invalid("broadcast_index", "%d must be less than broadcast_total", p.Index)
	}
	return nil
}

// TriggerBody is the part of a trigger that is the same for all runs of a version.
type TriggerBody struct {
	Delivery  job.Delivery `json:"delivery"`
	Route     job.Route    `json:"route,omitempty"` // empty is any
	Labels    job.Labels   `json:"labels,omitempty"`
	Priority  job.Priority `json:"priority,omitempty"`
	Map       *job.Map     `json:"map,omitempty"`     // how the run is cut in pieces
	AtOnce    int          `json:"at_once,omitempty"` // how many pieces of a broadcast may be out
	Timeout   job.Duration `json:"timeout,omitempty"`
	WarnAfter job.Duration `json:"warn_after,omitempty"`
	KillGrace job.Duration `json:"kill_grace,omitempty"`
	// MaxDeliveries is the job's; zero is [job.DefaultMaxDeliveries].
	MaxDeliveries int `json:"max_deliveries,omitempty"`
	// Retry says after which ends of the attempt another follows.
	Retry  job.Retry       `json:"retry,omitzero"`
	Task   job.Task        `json:"task"`
	Params json.RawMessage `json:"params,omitempty"`
}

// BodyOf returns what triggers of version v carry.
func BodyOf(v *job.Version) TriggerBody {
	b := TriggerBody{
		Delivery: v.Delivery, Labels: v.Labels, Priority: v.Priority, Map: v.Map, AtOnce: v.AtOnce, Timeout: v.Timeout, WarnAfter: v.WarnAfter, KillGrace: v.KillGrace,
		MaxDeliveries: v.MaxDeliveries, Retry: v.Retry, Task: v.Task.ByDigest(), Params: v.Params,
	}
	if v.Route != job.RouteAny {
		b.Route = v.Route
	}
	return b
}

// Routed reports whether a dispatcher has to find the instance, on [SubjectRouted].
// The triggers of other jobs are for any instance, on [SubjectTrigger].
func (b *TriggerBody) Routed() bool { return b.Route != "" || len(b.Labels) > 0 }

// MostDeliveries returns how many executors may die while they have an attempt.
func (b *TriggerBody) MostDeliveries() int { return cmp.Or(b.MaxDeliveries, job.DefaultMaxDeliveries) }

// Encode returns b as the text that [AppendTrigger] takes.
func (b TriggerBody) Encode() (string, error) {
	data, err := json.Marshal(b)
	if err != nil {
		return "", fmt.Errorf("encode trigger body: %w", err)
	}
	return string(data), nil
}

// AppendTrigger appends t's encoding to dst, with body, made by [TriggerBody.Encode],
// in the place of t.TriggerBody. It is what json.Marshal returns for the whole, at
// a tenth of the cost: the ring's owner encodes a trigger a fire.
func AppendTrigger(dst []byte, t *Trigger, body string) []byte {
	dst = append(dst, `{"run_id":"`...)
	dst = append(dst, t.RunID...)
	dst = append(dst, `","job":"`...)
	dst = append(dst, t.Job...)
	dst = append(dst, `","version":`...)
	dst = strconv.AppendInt(dst, int64(t.Version), 10)
	dst = append(dst, `,"shard":`...)
	dst = strconv.AppendInt(dst, int64(t.Shard), 10)
	dst = append(dst, `,"attempt":`...)
	dst = strconv.AppendInt(dst, int64(t.Attempt), 10)
	dst = append(dst, `,"cause":"`...)
	dst = append(dst, t.Cause...)
	dst = append(dst, `","fire_time":"`...)
	dst = t.FireTime.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, `","committed_at":"`...)
	dst = t.CommittedAt.UTC().AppendFormat(dst, time.RFC3339Nano)
	dst = append(dst, '"')
	dst = appendInstant(dst, `,"start_by":"`, t.StartBy)
	dst = appendInstant(dst, `,"end_by":"`, t.EndBy)
	if t.ParentRun != "" {
		dst = append(dst, `,"parent_run_id":"`...)
		dst = append(dst, t.ParentRun...)
		dst = append(dst, '"')
	}
	dst = appendCount(dst, `,"depth":`, t.Depth)
	if t.Step != "" {
		dst = append(dst, `,"step":"`...)
		dst = append(dst, t.Step...) // letters, digits and '_'
		dst = append(dst, '"')
	}
	dst = appendCount(dst, `,"broadcast_index":`, t.Index)
	dst = appendCount(dst, `,"broadcast_total":`, t.Total)
	if t.Prefer != "" {
		dst = append(dst, `,"prefer":"`...)
		dst = append(dst, t.Prefer...) // a slug
		dst = append(dst, '"')
	}
	if t.Split {
		dst = append(dst, `,"split":true`...)
	}
	if len(t.Item) > 0 {
		dst = append(dst, `,"item":`...)
		dst = append(dst, t.Item...)
	}
	if t.Keyed {
		dst = append(dst, `,"keyed":true`...)
	}
	if t.Report != "" {
		dst = append(dst, `,"report":"`...)
		dst = append(dst, t.Report...) // a subject
		dst = append(dst, '"')
	}
	dst = append(dst, ',')
	return append(dst, body[1:]...)
}

// appendCount appends a field that is left out when it is zero.
func appendCount(dst []byte, field string, n int) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, field...), int64(n), 10)
}

// appendInstant appends a field that is left out when it is zero.
func appendInstant(dst []byte, field string, at time.Time) []byte {
	if at.IsZero() {
		return dst
	}
	dst = append(dst, field...)
	dst = at.UTC().AppendFormat(dst, time.RFC3339Nano)
	return append(dst, '"')
}

// UnknownTrigger reports whether a message is a trigger of a version that this program does
// not know. A newer program may know it, so the run must be neither started nor ended here.
func UnknownTrigger(header nats.Header) bool {
	kind := header.Get(HeaderMessage)
	return ForServers(header) && kind != MessageTriggers && kind != MessageAgain
}

// ForServers reports whether a message is a trigger that an executor hands to a server, but for a pack that
// it can begin: of a version that it does not know, or one that somebody may have begun.
func ForServers(header nats.Header) bool {
	kind := header.Get(HeaderMessage)
	return kind != MessageTrigger && strings.HasPrefix(kind, "trigger.")
}

// DecodeTrigger is the inverse of [AppendTrigger]. Its error is an *InvalidError.
func DecodeTrigger(header nats.Header, data []byte) (*Trigger, error) {
	t := &Trigger{}
	kind := MessageTrigger
	if header.Get(HeaderMessage) == MessageAgain {
		kind = MessageAgain
	}
	if err := Decode(header, kind, data, t); err != nil {
		return nil, err
	}
	if _, err := job.ParseRunID(string(t.RunID)); err != nil {
		return nil, err
	}
	if _, err := job.ParseName(string(t.Job)); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	return t, nil
}

// DecodeTriggerFor is [DecodeTrigger] for an executor of a group. What passes can be reported about:
// an event of another group's job would be refused for ever. The error is an *InvalidError.
func DecodeTriggerFor(group string, header nats.Header, data []byte) (*Trigger, error) {
	t, err := DecodeTrigger(header, data)
	if err != nil {
		return nil, err
	}
	switch {
	case t.Job.Group() != group:
		return nil, job.Invalid("job", "%q is not of group %q", t.Job, group)
	case t.Attempt < 1:
		return nil, job.Invalid("attempt", "%d must be 1 or more", t.Attempt)
	case t.Shard < 0 || t.Shard >= MaxShards:
		return nil, job.Invalid("shard", "%d must be between 0 and %d", t.Shard, MaxShards-1)
	}
	if _, of, ok := ParseSubjectEnds(t.Report); t.Report != "" && (!ok || of != group) {
		return nil, job.Invalid("report", "%q must be evt.p<partition>.%s", t.Report, group)
	}
	return t, nil
}
