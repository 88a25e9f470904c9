package scheduler

import (
	"context"
	"iter"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/tracing"
	"github.com/carillon-scheduler/carillon/scheduler/shard"
)

// traceName is the scope of the spans that this package makes.
const traceName = "github.com/carillon-scheduler/carillon/scheduler"

// triggersOf returns the triggers of a batch, also those in packs.
func triggersOf(b *shard.Batch) iter.Seq[*bus.Trigger] {
	return func(yield func(*bus.Trigger) bool) {
		for _, m := range b.Messages {
			if kind := m.Header.Get(bus.HeaderMessage); kind != bus.MessageTrigger && kind != bus.MessageTriggers {
				continue
			}
			all, _ := bus.DecodeTriggers(m.Header, m.Data) // which a machine has just encoded
			for _, t := range all {
				if !yield(t) {
					return
				}
			}
		}
	}
}

// traceFires makes a span for each trigger of a batch that is stored: from its fire time to
// the commit. It is the root of the run's trace, or of an attempt's part of it.
func traceFires(ctx context.Context, tracer trace.Tracer, b *shard.Batch, node string, now time.Time) {
	for t := range triggersOf(b) {
		if t.Index > 0 { // the pieces of a run have one fire
			continue
		}
		begin := t.FireTime
		if t.Attempt > 1 || !t.Cause.Scheduled() {
			begin = t.CommittedAt // it was not due at its fire time
		}
		options := []trace.SpanStartOption{
			trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindProducer), trace.WithTimestamp(begin),
			trace.WithAttributes(
				attribute.String("carillon.job", string(t.Job)), attribute.Int("carillon.version", t.Version), attribute.String("carillon.run_id", string(t.RunID)),
				attribute.Int("carillon.attempt", t.Attempt), attribute.String("carillon.cause", string(t.Cause)), attribute.Int("carillon.shard", b.Shard), attribute.String("carillon.node", node),
			),
		}
		if parent := tracing.Fire(ctx, t.ParentRun, 1); parent.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: parent}))
		}
		_, span := tracer.Start(tracing.Wanting(ctx, tracing.Fire(ctx, t.RunID, t.Attempt)), "fire "+string(t.Job), options...)
		span.End(trace.WithTimestamp(now))
	}
}
