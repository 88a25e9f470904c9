package bus

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	json "github.com/go-json-experiment/json/v1" // see decode
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// Requests to one instance, on the subjects of its [Address].
const (
	VerbRun       = "run"       // take this attempt: the message is its trigger
	VerbBeat      = "beat"      // are you alive, and taking work?
	VerbIdle      = "idle"      // have you a free slot, and no run of this job?
	VerbDrain     = "drain"     // finish what you have, then leave
	VerbCordon    = "cordon"    // take no more, and stay
	VerbUncordon  = "uncordon"  // take work again
	VerbSet       = "set"       // change slots or labels
	VerbKill      = "kill"      // end this run: the message is a KillRequest
	VerbAttempts  = "attempts"  // which of these attempts have you?
	VerbConsumers = "consumers" // pull from these: the message is a ConsumersRequest
	VerbRefused   = "refused"   // a message of yours was refused: the message is a fleet.Refusal
)

// InstanceVerbs lists the requests that an instance answers.
var InstanceVerbs = []string{VerbRun, VerbBeat, VerbIdle, VerbDrain, VerbCordon, VerbUncordon, VerbSet, VerbKill, VerbAttempts, VerbConsumers, VerbRefused}

// Headers of a [VerbRun] request.
const (
	// HeaderAck is the subject on which the trigger is acknowledged. Who has accepted
	// the run answers it, as it would one that it has pulled.
	HeaderAck = "Carillon-Ack"
	// HeaderInstance names, of a trigger that is handed to a server, the instance that has
	// pulled it, and keeps a slot free for it for a while.
	HeaderInstance = "Carillon-Instance"
	// HeaderRouteReason says why the run did not go to its route's first choice.
	HeaderRouteReason = "Carillon-Route-Reason"
	// HeaderAlone asks the instance to take the run only if it has no other, and then to take no
	// other for so many seconds, or until the run has ended: an executor died that had it. An
	// executor that passes over it is offered the run when it says that it has none.
	HeaderAlone = "Carillon-Alone"
	// HeaderResume asks only for an attempt that the instance has already: it has been
	// begun, and must not be begun again.
	HeaderResume = "Carillon-Resume"
)

// IdleRequest is the body of a [VerbIdle] request.
type IdleRequest struct {
	Job job.Name `json:"job"`
}

// ErrNobodyThere means that no program listens where a request went: the instance is
// gone. It is a [job.ErrUnavailable].
var ErrNobodyThere = fmt.Errorf("%w: nobody answers", job.ErrUnavailable)

// NewRequest returns a request to one instance, with a header that becomes part of it.
func NewRequest(to Address, verb string, header nats.Header, body []byte) *nats.Msg {
	if header == nil {
		header = nats.Header{}
	}
	header[HeaderMessage] = requestKind
	return &nats.Msg{Subject: to.Subject(verb), Header: header, Data: body}
}

// requestKind is the value of [HeaderMessage] of every request; it is never changed.
var requestKind = []string{MessageRequest}

// CheckRequest returns a [job.ErrInvalid] unless m says that it is a request to an
// instance. What JetStream sends on somebody's behalf does not say so: acknowledgements
// have no header, and what was stored has the header of its own kind, and those that
// JetStream adds. Whoever refuses m must not answer it: nobody knows where the answer goes.
func CheckRequest(m *nats.Msg) error {
	if kind := m.Header.Get(HeaderMessage); kind != MessageRequest {
		return job.Invalid(HeaderMessage, "%q must be %q", kind, MessageRequest)
	}
	for key := range m.Header {
		if len(key) >= len(natsHeaders) && strings.EqualFold(key[:len(natsHeaders)], natsHeaders) && key != headerRequestInfo {
			return job.Invalid(key, "is not a known field")
		}
	}
	return nil
}

const (
	natsHeaders       = "Nats-"             // begins the headers that are NATS' own
	headerRequestInfo = "Nats-Request-Info" // which it adds to requests from another account
)

// RespondInstance answers a request to an instance. It is what [Respond] does, at a
// fraction of the cost.
func RespondInstance(m *nats.Msg, r *fleet.InstanceReply) error {
	value := make(object, 0, 160)
	value.text("instance", r.Instance)
	value.text("answer", string(r.Answer))
	value.text("state", string(r.State))
	value.number("running", r.Running)
	value.number("slots", r.Slots)
	value.textNonempty("detail", r.Detail)
	if !r.DrainBy.IsZero() {
		value.text("drain_by", r.DrainBy.UTC().Format(time.RFC3339Nano))
	}
	if len(r.Pieces) > 0 {
		value.key("pieces")
		value = append(value, '[')
		for i, piece := range r.Pieces {
			if i > 0 {
				value = append(value, ',')
			}
			value = strconv.AppendInt(value, int64(piece), 10)
		}
		value = append(value, ']')
	}
	if len(r.Attempts) > 0 {
		if err := value.value("attempts", r.Attempts); err != nil {
			return err
		}
	}
	reply := make(object, 0, len(value)+32)
	reply.key("value")
	reply = append(reply, value.end()...)
	return m.Respond(reply.end())
}

// RunRequest returns the header of a request to take the trigger in m.
func RunRequest(m *nats.Msg, reason string, resume bool) nats.Header {
	h := nats.Header{HeaderAck: {m.Reply}}
	if parent := m.Header.Get(HeaderTrace); parent != "" {
		h[HeaderTrace] = []string{parent}
	}
	if token := m.Header.Get(HeaderToken); token != "" {
		h[HeaderToken] = []string{token}
	}
	if pack := m.Header.Get(HeaderPack); pack != "" {
		h[HeaderPack] = []string{pack}
	}
	if reason != "" {
		h[HeaderRouteReason] = []string{reason}
	}
	if resume {
		h[HeaderResume] = []string{"true"}
	}
	return h
}

// maxAlone bounds [HeaderAlone].
const maxAlone = time.Hour

// AloneFor returns what [HeaderAlone] of a request asks for, 0 if it asks for nothing. The error is
// an *InvalidError.
func AloneFor(header nats.Header) (time.Duration, error) {
	text := header.Get(HeaderAlone)
	if text == "" {
		return 0, nil
	}
	seconds, err := strconv.Atoi(text)
	if most := int(maxAlone.Seconds()); err != nil || seconds < 1 || seconds > most {
		return 0, job.Invalid(HeaderAlone, "%q must be between 1 and %d", clip.Text(text, 32), most)
	}
	return time.Duration(seconds) * time.Second, nil
}

// DecodeInstanceReply returns what an instance has answered, or the fault that it found. It does
// so in one pass: there is an answer for each run that is routed.
func DecodeInstanceReply(m *nats.Msg) (*fleet.InstanceReply, error) {
	var r struct {
		Value *fleet.InstanceReply `json:"value"`
		Fault *fault               `json:"fault"`
	}
	switch err := json.Unmarshal(m.Data, &r); {
	case err != nil:
		return nil, fmt.Errorf("decode reply: %w", err)
	case r.Fault != nil:
		return nil, r.Fault.err()
	case r.Value == nil:
		return nil, fmt.Errorf("decode reply: %q has no value", m.Data)
	}
	return r.Value, nil
}
