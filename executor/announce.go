package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
)

// HandlerOption says more of a handler than its name, for those who write jobs.
type HandlerOption func(*bus.Handler)

// Describe says what a handler does, in a sentence or two.
func Describe(text string) HandlerOption {
	return func(h *bus.Handler) { h.Description = text }
}

// ParamsSchema says which parameters a handler takes, as a JSON schema, by which jobs
// are checked when they are saved. [Register] derives one from the type; this takes its
// place.
func ParamsSchema(schema json.RawMessage) HandlerOption {
	return func(h *bus.Handler) { h.Params = schema }
}

// maxAnnounced bounds what is announced of a handler, in bytes.
const maxAnnounced = 64 << 10

// describe keeps what is to be announced of a handler.
func (e *Executor) describe(name string, options []HandlerOption) {
	h := &bus.Handler{Group: e.cfg.Group, Handler: name, Instance: e.cfg.Instance, Version: e.cfg.Version}
	for _, o := range options {
		o(h)
	}
	if err := checkSchema(h.Params); err != nil {
		e.refuse("handler", "%q has a schema of its parameters that cannot be used: %v", name, err)
	}
	if size := len(h.Description) + len(h.Params); size > maxAnnounced {
		e.refuse("handler", "%q has a description and schema of %d bytes; at most %d are announced", name, size, maxAnnounced)
	}
	e.described = append(e.described, h)
}

func checkSchema(schema json.RawMessage) error {
	if len(schema) == 0 {
		return nil
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return err
	}
	_, err := s.Resolve(nil)
	return err
}

// schemaOf returns the schema of what json.Unmarshal takes for a type: no field is
// required, for one that is missing is zero. It is nil where nothing can be said.
func schemaOf(t reflect.Type) json.RawMessage {
	own := map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[[]byte](): {Type: "string"}}
	findUnmarshalers(t, own, map[reflect.Type]bool{})
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: own})
	if err != nil {
		return nil
	}
	requireNothing(s)
	data, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return data
}

var (
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()
	instant         = reflect.TypeFor[time.Time]()
)

// findUnmarshalers notes, for each type within t that reads itself, that it takes
// anything, or any text: what fields it has says nothing about what it reads.
func findUnmarshalers(t reflect.Type, own map[reflect.Type]*jsonschema.Schema, seen map[reflect.Type]bool) {
	if seen[t] || t == instant {
		return
	}
	seen[t] = true
	switch pointer := reflect.PointerTo(t); {
	case t.Kind() != reflect.Pointer && pointer.Implements(unmarshaler):
		own[t] = &jsonschema.Schema{}
		return
	case t.Kind() != reflect.Pointer && pointer.Implements(textUnmarshaler):
		own[t] = &jsonschema.Schema{Type: "string"}
		return
	}
	switch t.Kind() { //nolint:exhaustive // the others have nothing within
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		findUnmarshalers(t.Elem(), own, seen)
	case reflect.Struct:
		for field := range t.Fields() {
			findUnmarshalers(field.Type, own, seen)
		}
	}
}

func requireNothing(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Required = nil
	requireNothing(s.Items)
	requireNothing(s.AdditionalProperties)
	for _, p := range s.Properties {
		requireNothing(p)
	}
}

// announcement is one handler's, on its way to the bucket.
type announcement struct {
	handler *bus.Handler
	sent    jetstream.PubAckFuture // nil when it is to be sent
}

// announce publishes what is to be known of the handlers, until it is stored, and all
// of it again after a day. Nothing here waits: answers are looked at the next time.
func (l *loop) announce(now time.Time) {
	if l.announced.IsZero() || now.Sub(l.announced) >= bus.AnnounceEvery {
		l.announced, l.unsaid = now, nil
		for _, h := range l.e.described {
			l.unsaid = append(l.unsaid, announcement{handler: h})
		}
	}
	var left []announcement
	for _, a := range l.unsaid {
		if a.stored() {
			continue
		}
		if a.sent == nil {
			var err error
			if a.sent, err = l.sendAnnouncement(a.handler, now); err != nil {
				l.e.log.Debug("handler not announced", "handler", a.handler.Handler, "error", err)
			}
		}
		left = append(left, a)
	}
	l.unsaid = left
}

// stored reports whether the announcement has arrived. One that has failed is to be
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

func (l *loop) sendAnnouncement(h *bus.Handler, now time.Time) (jetstream.PubAckFuture, error) {
	h.At = now.UTC().Truncate(time.Millisecond)
	data, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("encode handler %s: %w", h.Handler, err)
	}
	if !l.e.conn.NC.IsConnected() {
		return nil, errors.New("NATS is away")
	}
	return l.e.js.PublishMsgAsync(&nats.Msg{Subject: h.Subject(), Data: data})
}
