package bus

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// EventKind says what an event tells.
type EventKind string

// The kinds of event.
const (
	EventStarted  EventKind = "started"  // an instance has begun the attempt; left out for runs shorter than a second
	EventProgress EventKind = "progress" // how far it has come
	EventHeld     EventKind = "held"     // no instance takes it, and a dispatcher will try again; Text says why
	EventFinished EventKind = "finished" // it has ended; Status is final
)

// Bounds of an event's texts, in bytes. Executors cut longer ones, and so do readers.
const (
	MaxMessage = 16 << 10
	MaxResult  = 64 << 10
)

// Event is a callback: what an executor, or for a run that none has, the shard's
// owner, says about an attempt.
type Event struct {
	Kind        EventKind `json:"kind"`
	RunID       job.RunID `json:"run_id"`
	Job         job.Name  `json:"job"`
	Version     int       `json:"version"`
	Shard       int       `json:"shard"`
	Attempt     int       `json:"attempt"`
	Cause       job.Cause `json:"cause"`
	FireTime    time.Time `json:"fire_time"`
	CommittedAt time.Time `json:"committed_at"`
	Piece
	// Instance is who speaks. Empty when the shard's owner does.
	Instance string `json:"instance,omitempty"`
	// Delivery counts how often the trigger had been delivered: above 1, an earlier
	// executor of the same attempt went silent.
	Delivery int `json:"delivery,omitempty"`
	// At is when the event was made, by the speaker's clock.
	At time.Time `json:"at"`
	// DeliveredAt is when the instance got the trigger of an attempt that it has begun,
	// by its clock. Zero if its executor does not tell.
	DeliveredAt time.Time `json:"delivered_at,omitzero"`
	StartedAt   time.Time `json:"started_at,omitzero"`
	FinishedAt  time.Time `json:"finished_at,omitzero"`

	// Of finished events:
	Status   job.Status `json:"status,omitempty"`
	ExitCode *int       `json:"exit_code,omitempty"` // of shell and command tasks
	Message  string     `json:"message,omitempty"`   // why it failed
	// Retry says that by the job's rule another attempt follows, so the run has not
	// ended. The shard's owner has the last word, in a record.
	Retry bool `json:"retry,omitempty"`
	// Final says that no attempt may follow, whatever the job's rule says.
	Final bool `json:"final,omitempty"`
	// RetryAfter is how long after this end the next attempt is due, in the place of the
	// rule's wait. Zero leaves it to the rule.
	RetryAfter job.Duration    `json:"retry_after,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`    // what the handler returned
	LogLines   int             `json:"log_lines,omitempty"` // how many lines the attempt logged
	// LogOpen says that lines of the attempt come after its end; [Log.Last] says which are the last.
	LogOpen bool `json:"log_open,omitempty"`

	// Of started events: why the run did not go to its route's first choice.
	RouteReason string `json:"route_reason,omitempty"`

	// Of progress events, and Text of held ones:
	Percent float64 `json:"percent,omitempty"` // 0 to 100
	Text    string  `json:"text,omitempty"`
}

// EventOf returns an event of the given kind about t's attempt.
func EventOf(t *Trigger, kind EventKind, at time.Time) *Event {
	return &Event{
		Kind: kind, RunID: t.RunID, Job: t.Job, Version: t.Version, Shard: t.Shard, Attempt: t.Attempt,
		Cause: t.Cause, FireTime: t.FireTime, CommittedAt: t.CommittedAt, Piece: t.Piece, At: at.UTC().Truncate(time.Millisecond),
	}
}

// headroom is what the headers of a message may take of NATS's max_payload, and shortMessage how long
// the message may be of an end that is too large for it.
const (
	headroom     = 4 << 10
	shortMessage = 1 << 10
)

// MsgWithin is [Event.Msg] of a finished event for a NATS with that max_payload; 0 is unknown. NATS
// refuses a larger one every time, which would hold the run's slot. So it leaves out the result of one,
// and cuts the message, which says so.
func (e *Event) MsgWithin(token string, maxPayload int64) (*nats.Msg, error) {
	m, err := e.Msg(token)
	if err != nil || fits(len(m.Data), maxPayload) {
		return m, err
	}
	short := *e
	short.Result = nil
	short.Message = clip.Text(reason.Join(reason.EndTooLarge.With(len(m.Data), int(maxPayload)-headroom), e.Message), shortMessage-len("…"))
	return short.Msg(token)
}

// fits reports whether a message with so many bytes of data is not too large for a NATS with that
// max_payload; 0 is unknown.
func fits(size int, maxPayload int64) bool {
	return maxPayload <= 0 || size <= int(maxPayload)-headroom
}

// Msg returns e as a message for EVT, with the token of the attempt's trigger; servers
// use cluster.Events.Message. Its Msg-Id makes JetStream drop a repeat within its window;
// readers must stand later repeats. It has the token in it: all groups share the window,
// and whoever could guess the id would have the event dropped by taking it first. docs/reference/protocol.md has the ids.
func (e *Event) Msg(token string) (*nats.Msg, error) {
	o := make(object, 0, 512)
	if err := e.append(&o); err != nil {
		return nil, fmt.Errorf("encode event of run %s: %w", e.RunID, err)
	}
	return e.msg(o.end(), token), nil
}

// msg is Msg of e with what it is encoded as.
func (e *Event) msg(data []byte, token string) *nats.Msg {
	m := NewMessage(SubjectEvent(e.Shard, e.Job.Group()), MessageEvent, data)
	id := string(e.RunID) + ":" + strconv.Itoa(e.Attempt)
	if e.Total > 0 {
		id += "." + strconv.Itoa(e.Index)
	}
	id += ":" + string(e.Kind)
	switch e.Kind {
	case EventProgress:
		id += ":" + strconv.FormatInt(e.At.UnixMilli(), 36)
	case EventStarted, EventHeld: // another delivery is another start, often within the window
		id += ":" + strconv.Itoa(e.Delivery)
	case EventFinished:
	}
	if token != "" {
		id += ":" + token
		m.Header[HeaderToken] = []string{token}
	}
	m.Header.Set(nats.MsgIdHdr, id)
	return m
}

// append appends the fields of what json.Marshal makes of e, at a fifth of the cost: an executor
// encodes an event a run.
func (e *Event) append(o *object) error {
	o.text("kind", string(e.Kind))
	o.text("run_id", string(e.RunID))
	o.text("job", string(e.Job))
	o.number("version", e.Version)
	o.number("shard", e.Shard)
	o.number("attempt", e.Attempt)
	o.text("cause", string(e.Cause))
	o.instant("fire_time", e.FireTime)
	o.instant("committed_at", e.CommittedAt)
	o.numberNonzero("broadcast_index", e.Index)
	o.numberNonzero("broadcast_total", e.Total)
	o.textNonempty("instance", e.Instance)
	o.numberNonzero("delivery", e.Delivery)
	o.instant("at", e.At)
	o.instantNonzero("delivered_at", e.DeliveredAt)
	o.instantNonzero("started_at", e.StartedAt)
	o.instantNonzero("finished_at", e.FinishedAt)
	o.textNonempty("status", string(e.Status))
	if e.ExitCode != nil {
		o.number("exit_code", *e.ExitCode)
	}
	o.textNonempty("message", e.Message)
	if e.Retry {
		o.truth("retry", e.Retry)
	}
	if e.Final {
		o.truth("final", e.Final)
	}
	if e.RetryAfter != 0 {
		o.text("retry_after", e.RetryAfter.String())
	}
	if len(e.Result) > 0 {
		if err := o.raw("result", e.Result); err != nil {
			return err
		}
	}
	o.numberNonzero("log_lines", e.LogLines)
	if e.LogOpen {
		o.truth("log_open", e.LogOpen)
	}
	o.textNonempty("route_reason", e.RouteReason)
	if e.Percent != 0 {
		if err := o.value("percent", e.Percent); err != nil {
			return err
		}
	}
	o.textNonempty("text", e.Text)
	return nil
}

// DecodeEvent reads an event that arrived on subject, and that its stream took at stored,
// or that was heard then. It checks that its speaker may say it: a group's credentials
// allow evt.*.<group>, so an event must be about a job of that group, and lie in the shard
// that the subject names; the token must be that of the attempt, or of a server; and only
// servers know that nobody has an attempt. shards is the cluster's number of shards. The
// error is an *InvalidError, for [HeaderToken] if the speaker may not.
//
// A finished event that says which attempt has ended is an end, whatever else is wrong with
// it: it is returned as one of an attempt that failed, with a message that says what is wrong.
// Times that cannot be are corrected, and texts that are too long are cut; the message says
// so. An executor's word that another attempt follows counts only where the trigger has a
// rule for that. An end after the time limits of the trigger is timed_out, whatever its executor
// reports. All readers of a stream get the same event.
func (t *Tokens) DecodeEvent(subject string, header nats.Header, data []byte, stored time.Time, shards int) (*Event, error) {
	if err := needsKind(header, MessageEvent); err != nil {
		return nil, err
	}
	e, damage, err := parseEvent(data, MessageEvent, nil)
	if err != nil {
		return nil, err
	}
	shard, group, ok := ParseSubjectEvent(subject)
	if !ok {
		return nil, job.Invalid("subject", "%q must be evt.<shard>.<group>", subject)
	}
	if err := e.attribute(source{subject, group, func(of int) bool { return of == shard }}, shards); err != nil {
		return nil, err
	}
	if err := t.verify(e, damage, header.Get(HeaderToken), MessageEvent, data, stored); err != nil {
		return nil, err
	}
	return e, nil
}

// parseEvent reads an event from data of a kind, and its token from there too, unless token is nil. damage
// is what is wrong with an end that can be attributed all the same.
func parseEvent(data []byte, kind string, token *string) (e *Event, damage, err error) {
	e = &Event{}
	if readEvent(data, e, token) {
		return e, nil, nil
	}
	*e = Event{}
	if err := Decode(nil, kind, data, e); err != nil {
		if e, damage = salvage(data); e == nil {
			return nil, nil, err
		}
	}
	if token != nil {
		var has struct {
			Token string `json:"token"`
		}
		_ = json.Unmarshal(withoutNaN(data), &has) // a token that cannot be read is none
		*token = has.Token
	}
	return e, damage, nil
}

// verify checks that who sent data of a kind, with a token, may say e, and mends e. damage is what is known to be
// wrong with it.
func (t *Tokens) verify(e *Event, damage error, token, kind string, data []byte, stored time.Time) error {
	of := attempt{job: e.Job, run: e.RunID, attempt: e.Attempt, Piece: e.Piece}
	by, err := t.speaker(token, kind, data, &of)
	if err != nil {
		return err
	}
	if by != server && e.Kind == EventHeld {
		return job.Invalid("kind", "is for servers only")
	}
	if !slices.Contains([]EventKind{EventStarted, EventProgress, EventHeld, EventFinished}, e.Kind) {
		return job.Invalid("kind", "%q must be started, progress, held or finished", e.Kind)
	}
	if damage == nil {
		damage = e.wrong()
	}
	switch {
	case damage != nil && e.Kind != EventFinished:
		return damage
	case damage != nil:
		e.fail(damage)
	}
	e.Retry = e.Retry && !e.Final && (by == server || of.terms.repeats)
	e.correct(stored.UTC().Truncate(time.Millisecond))
	if by == executor {
		e.limit(of.terms)
	}
	return nil
}
