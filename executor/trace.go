package executor

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-scheduler/carillon/internal/tracing"
	"github.com/carillon-scheduler/carillon/job"
)

// traceName is the scope of the spans that this package makes.
const traceName = "github.com/carillon-scheduler/carillon/executor"

// startSpan begins the span of an attempt, if there is somebody to look at it. The spans
// that its handler makes from its context are part of it.
func (e *Executor) startSpan(ctx context.Context, r *Run) context.Context {
	if e.tracer == nil {
		return ctx
	}
	t := r.trigger
	attributes := []attribute.KeyValue{
		attribute.String("carillon.job", string(t.Job)), attribute.String("carillon.run_id", string(t.RunID)), attribute.Int("carillon.attempt", t.Attempt),
		attribute.String("carillon.executor_group", e.cfg.Group), attribute.String("carillon.instance", e.cfg.Instance), attribute.Int("carillon.delivery", r.delivered),
	}
	if t.Total > 0 {
		attributes = append(attributes, attribute.Int("carillon.broadcast_index", t.Index), attribute.Int("carillon.broadcast_total", t.Total))
	}
	ctx = trace.ContextWithRemoteSpanContext(ctx, tracing.Fire(string(t.RunID), t.Attempt))
	ctx, r.span = e.tracer.Start(ctx, "run "+string(t.Job), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributes...))
	r.traceParent = tracing.Parent(r.span.SpanContext())
	return ctx
}

// endSpan ends the span of an attempt that has one.
func (r *Run) endSpan(o outcome, at time.Time) {
	if r.span == nil {
		return
	}
	switch {
	case o.giveBack:
		r.span.SetAttributes(attribute.Bool("carillon.given_back", true))
	default:
		r.span.SetAttributes(attribute.String("carillon.status", string(o.status)))
		if o.status != job.StatusSucceeded {
			r.span.SetStatus(codes.Error, o.message)
		}
	}
	r.span.End(trace.WithTimestamp(at))
}

// TraceParent returns the W3C trace context of the attempt, for what it calls; "" when
// nobody traces. Handlers in Go have it in their context.
func (r *Run) TraceParent() string { return r.traceParent }
