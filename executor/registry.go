package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// registry is the handlers of an executor. Registrations write it, before Run; later it is only read.
type registry struct {
	cfg       *Config
	handlers  map[string]Handler // by the name that tasks use
	runners   map[string]Handler // by kind of task
	slots     map[string]int     // bounds of handlers that have one of their own
	described []*bus.Handler     // what is announced of the handlers; the loop sets the instants
	namesSize int                // of the handlers' names, as a JSON array in a heartbeat
	invalid   []error            // registrations that Run will refuse
}

func newRegistry(cfg *Config) registry {
	return registry{cfg: cfg, handlers: map[string]Handler{}, runners: map[string]Handler{}, slots: map[string]int{}}
}

// add registers h under a name that tasks use.
func (g *registry) add(name string, h Handler, options []HandlerOption) {
	switch _, taken := g.handlers[name]; {
	case name == "" || len(name) > 255:
		g.refuse("handler", "%q must have 1 to 255 characters", name)
	case h == nil:
		g.refuse("handler", "%q is nil", name)
	case taken:
		g.refuse("handler", "%q is registered twice", name)
	default:
		g.handlers[name] = g.wrapped(h)
		g.describe(name, options)
	}
	was := g.namesSize
	if g.namesSize += len(quoted(name)) + 1; was <= bus.MaxHandlerNames && g.namesSize > bus.MaxHandlerNames {
		g.refuse("handler", "%q makes the names of all handlers longer than the %d bytes that a heartbeat has for them; use shorter names, or several executor groups", name, bus.MaxHandlerNames)
	}
}

// quoted returns a text as JSON.
func quoted(text string) []byte {
	data, err := json.Marshal(text)
	if err != nil {
		panic("BUG: a text is not encoded: " + err.Error())
	}
	return data
}

// addKind registers h for all tasks of a kind.
func (g *registry) addKind(kind string, h Handler) {
	switch _, taken := g.runners[kind]; {
	case kind == job.KindHandler || !slices.Contains(job.TaskKinds, kind):
		g.refuse("kind", "%q must be one of %s", kind, strings.Join(job.TaskKinds[1:], ", "))
	case h == nil:
		g.refuse("kind", "%q has a nil handler", kind)
	case taken:
		g.refuse("kind", "%q is registered twice", kind)
	default:
		g.runners[kind] = g.wrapped(h)
	}
}

// wrapped returns h within the middleware.
func (g *registry) wrapped(h Handler) Handler {
	for _, wrap := range slices.Backward(g.cfg.Middleware) {
		h = wrap(h)
	}
	return h
}

func (g *registry) refuse(field, format string, args ...any) {
	g.invalid = append(g.invalid, &job.InvalidError{Field: field, Reason: fmt.Sprintf(format, args...)})
}

// handlerFor returns who does the task. Its error is for the run's message.
func (g *registry) handlerFor(t *job.Task) (Handler, error) {
	kind := t.Kind()
	if kind != job.KindHandler {
		if h := g.runners[kind]; h != nil {
			return h, nil
		}
		return nil, errors.New(reason.KindNotRun.With(kind, listed(g.kinds())))
	}
	if h := g.handlers[t.Handler]; h != nil {
		return h, nil
	}
	return nil, errors.New(reason.NoHandler.With(t.Handler, listed(g.names())))
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// kinds returns the kinds of task that this executor does.
func (g *registry) kinds() []string {
	var kinds []string
	if len(g.handlers) > 0 {
		kinds = append(kinds, job.KindHandler)
	}
	for kind := range g.runners {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

func (g *registry) names() []string {
	names := make([]string, 0, len(g.handlers))
	for name := range g.handlers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// describe keeps what the executor will announce about a handler.
func (g *registry) describe(name string, options []HandlerOption) {
	r := registration{Handler: bus.Handler{Group: g.cfg.Group, Handler: name, Instance: g.cfg.Instance, Version: g.cfg.Version}}
	for _, o := range options {
		o(&r)
	}
	if r.bounded {
		g.slots[name] = r.slots
		if r.slots < 1 || r.slots > MaxSlots {
			g.refuse("slots", "%d of handler %q must be between 1 and %d", r.slots, name, MaxSlots)
		}
	}
	h := &r.Handler
	if err := g.checkSchema(h.Params); err != nil {
		g.refuse("handler", "%q has a schema of its parameters that cannot be used: %v", name, err)
	}
	if err := g.checkSchema(h.Result); err != nil {
		g.refuse("handler", "%q has a schema of its result that cannot be used: %v", name, err)
	}
	if size := announcedSize(h); size > bus.MaxAnnouncement {
		g.refuse("handler", "%q is announced with %d bytes, most of them its description and schemas; at most %d are allowed", name, size, bus.MaxAnnouncement)
	}
	g.described = append(g.described, h)
}

// announcedSize returns how long the announcement of a handler is, whenever it is made.
func announcedSize(h *bus.Handler) int {
	at := *h
	at.At = time.Date(2000, time.January, 1, 0, 0, 0, int(999*time.Millisecond), time.UTC)
	data, err := json.Marshal(at)
	if err != nil {
		return 0 // a schema that is no JSON, which is refused as such
	}
	return len(data)
}

// schemaOf returns the schema of a type; nil if nobody makes them.
func (g *registry) schemaOf(t reflect.Type) json.RawMessage {
	if g.cfg.Schemas == nil {
		return nil
	}
	return g.cfg.Schemas.Of(t)
}

func (g *registry) checkSchema(schema json.RawMessage) error {
	switch {
	case len(schema) == 0:
		return nil
	case !json.Valid(schema):
		return errors.New("it is not JSON")
	case g.cfg.Schemas == nil:
		return nil
	}
	_, err := g.cfg.Schemas.Validator(schema)
	return err
}
