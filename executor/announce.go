package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
)

// HandlerOption says more of a handler than its name.
type HandlerOption func(*registration)

// registration is what the options of a handler say.
type registration struct {
	bus.Handler

	slots   int
	bounded bool // by slots
}

// Describe says what a handler does, in a sentence or two.
func Describe(text string) HandlerOption {
	return func(r *registration) { r.Description = text }
}

// ParamsSchema says which parameters a handler takes, as a JSON schema, by which jobs
// are checked when they are saved. [Register] has one of the type if [Config.Schemas] makes
// them; this takes its place.
func ParamsSchema(schema json.RawMessage) HandlerOption {
	return func(r *registration) { r.Params = schema }
}

// ResultSchema says what a handler returns, as a JSON schema. [Register] has one of the type if
// [Config.Schemas] makes them; this takes its place.
func ResultSchema(schema json.RawMessage) HandlerOption {
	return func(r *registration) { r.Result = schema }
}

// Slots bounds how many runs of a handler this executor does at once, from 1 to [MaxSlots]. They
// take slots of [Config.Slots], too. Runs beyond the bound go to other instances, or wait.
func Slots(n int) HandlerOption {
	return func(r *registration) { r.slots, r.bounded = n, true }
}

// Schemas makes and checks the JSON schemas that are announced of handlers.
type Schemas interface {
	// Of returns the schema of what json.Unmarshal takes for a type; nil where nothing can be said.
	Of(t reflect.Type) json.RawMessage
	// Validator returns what checks values by a schema. The error says why the schema cannot be used.
	Validator(schema json.RawMessage) (validate func(value json.RawMessage) error, err error)
}

// announcement is one handler's, on its way to the bucket.
type announcement struct {
	handler *bus.Handler
	sent    jetstream.PubAckFuture // nil until it is sent
}

// announcer announces the handlers of an executor. The loop owns it.
type announcer struct {
	out      *publisher
	handlers []*bus.Handler
	last     time.Time      // when all handlers were to be announced last
	pending  []announcement // those that may not be stored yet
}

// announce publishes the descriptions of the handlers until they are stored, and all of
// them again after a day. It does not wait: it reads the answers at the next call.
func (a *announcer) announce(now time.Time) {
	if a.last.IsZero() || now.Sub(a.last) >= bus.AnnounceEvery {
		a.last, a.pending = now, nil
		for _, h := range a.handlers {
			a.pending = append(a.pending, announcement{handler: h})
		}
	}
	var left []announcement
	for _, n := range a.pending {
		if n.stored() {
			continue
		}
		if n.sent == nil {
			var err error
			if n.sent, err = a.send(n.handler, now); err != nil {
				a.out.log.Debug("handler not announced", "handler", n.handler.Handler, "error", err)
			}
		}
		left = append(left, n)
	}
	a.pending = left
}

// stored reports whether the announcement has arrived. If it has failed, it will be
// sent again.
func (a *announcement) stored() bool {
	if a.sent == nil {
		return false
	}
	select {
	case <-a.sent.Ok():
		return true
	case err := <-a.sent.Err():
		if err != nil {
			a.sent = nil
		}
	default:
	}
	return false
}

func (a *announcer) send(h *bus.Handler, now time.Time) (jetstream.PubAckFuture, error) {
	h.At = now.UTC().Truncate(time.Millisecond)
	data, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode handler %s: %w", h.Handler, err)
	}
	if !a.out.js.Conn().IsConnected() {
		return nil, errors.New("NATS is away")
	}
	return a.out.js.PublishMsgAsync(&nats.Msg{Subject: h.Subject(), Data: data})
}
