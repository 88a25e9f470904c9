package bus

import (
	"strconv"

	json "github.com/go-json-experiment/json/v1" // what encoding/json is to become; decodes in a third of its time
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// HeaderMessage names a message's kind and the version of its encoding, such as
// "trigger.v1". A reader refuses a version that it does not know; new fields may be
// added within a version, and readers pass over fields that they do not know.
const HeaderMessage = "Carillon-Message"

// The values of [HeaderMessage].
const (
	MessageTrigger  = "trigger.v1"
	MessageTriggers = "trigger.pack.v1"  // a pack of triggers, see [IsPack]
	MessageAgain    = "trigger.again.v1" // a trigger that was in a pack, see [PackedTrigger.TakenApart]
	MessageApart    = "apart.v1"         // which packs were taken apart
	MessageEvent    = "event.v1"
	MessageEnds     = "events.v1"
	MessageLog      = "log.v1"
	MessageCursor   = "cursor.v1"
	MessageDeferred = "deferred.v1"
	MessageRecord   = "record.v1"
	MessageAudit    = "audit.v1"
	MessageMark     = "mark.v1"
	MessagePing     = "ping.v1"
	MessageRequest  = "request.v1"
)

// NewMessage returns a message of the given kind.
func NewMessage(subject, kind string, data []byte) *nats.Msg {
	return &nats.Msg{Subject: subject, Data: data, Header: nats.Header{HeaderMessage: {kind}}}
}

// MsgsWithin returns a finished event, or log lines, that was encoded for a larger max_payload of NATS as
// messages for this one, as [Event.MsgWithin] and [Log.MsgsWithin] make them.
func MsgsWithin(m *nats.Msg, maxPayload int64) (all []*nats.Msg, err error) {
	if m.Header.Get(HeaderMessage) == MessageLog {
		l := &Log{}
		if err = Decode(m.Header, MessageLog, m.Data, l); err == nil {
			all, err = l.MsgsWithin("", maxPayload)
		}
	} else {
		e := &Event{}
		if err = Decode(m.Header, MessageEvent, m.Data, e); err == nil {
			all = make([]*nats.Msg, 1)
			all[0], err = e.MsgWithin("", maxPayload)
		}
	}
	if err != nil {
		return nil, err
	}
	for _, part := range all {
		part.Subject, part.Header = m.Subject, m.Header
	}
	return all, nil
}

// needsKind returns an *InvalidError unless a message's header says that it is of a kind.
func needsKind(header nats.Header, kind string) error {
	if got := header.Get(HeaderMessage); got != kind {
		return unknownKind(got, kind)
	}
	return nil
}

func unknownKind(got, kind string) error {
	return job.Invalid(HeaderMessage, "%q must be %q", got, kind)
}

// Decode reads data, a message of the given kind, into v. header may be nil where
// the kind is known otherwise.
func Decode(header nats.Header, kind string, data []byte, v any) error {
	if got := header.Get(HeaderMessage); got != "" && got != kind {
		return unknownKind(got, kind)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return job.Invalid("", "the message is no %s: %v", kind, err)
	}
	return nil
}

// MaxBatch is how many messages one atomic batch may have, by the server's default.
const MaxBatch = 1000

// ExpectLast makes the message conditional: it, and the batch with it, is refused
// unless seq is the sequence of the last message on its subject (0: there is none).
func ExpectLast(m *nats.Msg, seq uint64) {
	m.Header["Nats-Expected-Last-Subject-Sequence"] = []string{strconv.FormatUint(seq, 10)}
}

// Rollup makes the message replace all earlier ones on its subject.
func Rollup(m *nats.Msg) { m.Header["Nats-Rollup"] = []string{"sub"} }
