package tracing

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// scope is the scope of the spans that this package makes.
const scope = "github.com/carillon-scheduler/carillon/executor"

var w3c propagation.TraceContext

// OpenTelemetry makes observers with which each attempt is a span of provider, in the trace of
// its run, for executor.Config.Observers. The spans that a handler makes from its context are
// part of it.
func OpenTelemetry(provider trace.TracerProvider) executor.NewObserver {
	return func(about executor.About) (executor.Observer, error) {
		return &observer{tracer: provider.Tracer(scope), about: about}, nil
	}
}

type observer struct {
	tracer trace.Tracer
	about  executor.About
}

// Begun implements executor.Observer.
func (o *observer) Begun(ctx context.Context, r *executor.Run) (context.Context, func(executor.End)) {
	attributes := []attribute.KeyValue{
		attribute.String("carillon.job", string(r.Job())), attribute.String("carillon.run_id", string(r.ID())), attribute.Int("carillon.attempt", r.Attempt()),
		attribute.String("carillon.executor_group", o.about.Group), attribute.String("carillon.instance", o.about.Instance), attribute.Int("carillon.delivery", r.Delivered()),
	}
	if index, total := r.Broadcast(); total > 1 {
		attributes = append(attributes, attribute.Int("carillon.broadcast_index", index), attribute.Int("carillon.broadcast_total", total))
	}
	ctx = w3c.Extract(ctx, propagation.MapCarrier{bus.HeaderTrace: bus.FireTrace(r.ID(), r.Attempt())})
	ctx, span := o.tracer.Start(ctx, "run "+string(r.Job()), trace.WithSpanKind(trace.SpanKindConsumer), trace.WithAttributes(attributes...))
	parent := propagation.MapCarrier{}
	w3c.Inject(ctx, parent)
	ctx = executor.WithTraceParent(ctx, parent[bus.HeaderTrace])
	return ctx, func(e executor.End) {
		switch e.Status { //nolint:exhaustive // the others are failures
		case "":
			span.SetAttributes(attribute.Bool("carillon.given_back", true))
		case job.StatusSucceeded:
			span.SetAttributes(attribute.String("carillon.status", string(e.Status)))
		default:
			span.SetAttributes(attribute.String("carillon.status", string(e.Status)))
			span.SetStatus(codes.Error, e.Message)
		}
		span.End(trace.WithTimestamp(e.Ended))
	}
}

// Slots implements executor.Observer.
func (*observer) Slots(int, int) {}

// Counted implements executor.Observer.
func (*observer) Counted(executor.Count, int) {}
