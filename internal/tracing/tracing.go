package tracing

import (
	"context"
	"crypto/rand"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// Fire returns the span of the fire that an attempt of a run belongs to, as [bus.FireTrace]
// names it. It is not valid if id is not the id of a run.
func Fire(ctx context.Context, id job.RunID, attempt int) trace.SpanContext {
	carrier := propagation.MapCarrier{bus.HeaderTrace: bus.FireTrace(id, attempt)}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(trace.ContextWithSpanContext(ctx, trace.SpanContext{}), carrier))
}

type wanted struct{}

// Wanting returns a context in which a span that [Generator] names is sc.
func Wanting(ctx context.Context, sc trace.SpanContext) context.Context {
	return context.WithValue(ctx, wanted{}, sc)
}

// Generator names traces and spans for the SDK: as [Wanting] says, else at random. It is
// safe for concurrent use.
type Generator struct{}

// NewIDs implements the SDK's IDGenerator.
func (g Generator) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	if sc, ok := ctx.Value(wanted{}).(trace.SpanContext); ok {
		return sc.TraceID(), sc.SpanID()
	}
	_, _ = rand.Read(id[:]) // never fails: it ends the program rather than return an error
	return id, g.NewSpanID(ctx, id)
}

// NewSpanID implements the SDK's IDGenerator.
func (Generator) NewSpanID(context.Context, trace.TraceID) (span trace.SpanID) {
	_, _ = rand.Read(span[:])
	return span
}
