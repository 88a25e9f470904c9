package executor

import (
	"context"
	"reflect"
)

// Handler does runs. Programs implement it, most often by [Register] or a
// [HandlerFunc]. It is called concurrently, up to [Config.Slots] times.
type Handler interface {
	// Handle does one run. A nil error makes it succeeded, with result encoded as JSON
	// (nil is none, at most [bus.MaxResult] bytes are kept); any other, or a panic, makes
	// it failed with the error's text.
	//
	// When ctx is done, context.Cause(ctx) tells why, and Handle should return soon.
	// After ErrTimeout and ErrCancelled the run ends as timed_out or cancelled,
	// whatever Handle returns. After ErrStopping nil still means succeeded, while an
	// error gives the run back, to be done again by another instance, unless its job
	// has delivery at_most_once: then it ends as lost.
	Handle(ctx context.Context, run *Run) (result any, err error)
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, run *Run) (result any, err error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, run *Run) (any, error) { return f(ctx, run) }

// Handle registers h for tasks that name it: `task: {handler: NAME}`. It must not be
// called after Run. Run returns the error if name is empty, too long or taken, or an
// option is wrong.
func (e *Executor) Handle(name string, h Handler, options ...HandlerOption) {
	e.registry.add(name, h, options)
}

// HandleKind registers h for all tasks of a kind other than handler, one of
// [job.TaskKinds]. Packages runner/shell and runner/request call it;
// a program may register a runner of its own for one of these kinds. It must not be called after Run, which
// returns the error if kind is wrong or taken.
func (e *Executor) HandleKind(kind string, h Handler) { e.registry.addKind(kind, h) }

// Func is a handler with parameters and a result of its own types. For one without a result, R
// is any, and it returns nil.
type Func[P, R any] func(ctx context.Context, run *Run, params P) (result R, err error)

// Register registers f as a handler whose parameters are decoded from the run's JSON
// into a P, and whose result is encoded as JSON. Parameters that do not fit make the run failed
// before f is called; a run without any gives f the zero P.
//
// With [Config.Schemas], what P and R look like is announced as JSON schemas. Jobs are checked by
// that of P when they are saved, and runs before f is called: unknown and missing fields, wrong types and
// what is out of bounds are refused. A field is required unless it is a pointer, or its json tag has omitempty or omitzero. Its
// validate tag has bounds (min=1,max=9), and its jsonschema tag is its description. A number that goes into a value of type any is a [json.Number],
// which keeps each digit; one that the field's type has no room for fails the run.
func Register[P, R any](e *Executor, name string, f Func[P, R], options ...HandlerOption) {
	schema := e.registry.schemaOf(reflect.TypeFor[P]())
	params := newParamsReader[P](e, name, schema)
	h := HandlerFunc(func(ctx context.Context, run *Run) (any, error) {
		p, err := params.read(run.Params())
		if err != nil {
			return nil, err
		}
		return f(ctx, run, p)
	})
	e.Handle(name, h, append([]HandlerOption{ParamsSchema(schema), ResultSchema(e.registry.schemaOf(reflect.TypeFor[R]()))}, options...)...)
}
