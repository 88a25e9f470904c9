package sdk_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/executor/tracing"
)

func TestARunIsATraceThatItsHandlersSpansJoin(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		kept := tracetest.NewInMemoryExporter()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept))
		parents := make(chan string, 2)
		w.start("a", executor.Config{Observers: []executor.NewObserver{tracing.OpenTelemetry(provider)}}, handler(func(ctx context.Context, r *executor.Run) (any, error) {
			_, span := trace.SpanFromContext(ctx).TracerProvider().Tracer("mine").Start(ctx, "query")
			span.End()
			parents <- r.TraceParent()
			if r.Attempt() == 2 {
				return nil, errors.New("the disk is full")
			}
			return "ok", nil
		}))
		first := w.trigger()
		time.Sleep(5 * time.Second)
		second := w.trigger(func(tr *bus.Trigger) { tr.Attempt = 2 })
		time.Sleep(5 * time.Second)
		spans := kept.GetSpans()
		if len(spans) != 4 {
			t.Fatalf("%d spans, want one of each run and of each handler", len(spans))
		}
		for i, tr := range []*bus.Trigger{first, second} {
			query, run := spans[2*i], spans[2*i+1]
			fire := bus.FireTrace(tr.RunID, tr.Attempt)
			if run.Name != "run g/job" || run.SpanContext.TraceID().String() != strings.ReplaceAll(string(tr.RunID), "-", "") || run.Parent.SpanID().String() != strings.Split(fire, "-")[2] {
				t.Errorf("span %s of trace %s below %s", run.Name, run.SpanContext.TraceID(), run.Parent.SpanID())
			}
			if query.Name != "query" || query.SpanContext.TraceID() != run.SpanContext.TraceID() || query.Parent.SpanID() != run.SpanContext.SpanID() {
				t.Errorf("the handler's span is not part of its run's: %+v", query)
			}
			if want := []codes.Code{codes.Unset, codes.Error}[i]; run.Status.Code != want || i == 1 && run.Status.Description != "the disk is full" {
				t.Errorf("status %+v", run.Status)
			}
		}
		for _, run := range []tracetest.SpanStub{spans[1], spans[3]} {
			if got, want := <-parents, "00-"+run.SpanContext.TraceID().String()+"-"+run.SpanContext.SpanID().String()+"-01"; got != want || len(got) != 55 {
				t.Errorf("what a run hands on is %q, want %q", got, want)
			}
		}
	})
}

func TestWithoutTracerARunHasNoTrace(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		found := make(chan string, 1)
		w.start("a", executor.Config{}, handler(func(ctx context.Context, r *executor.Run) (any, error) {
			found <- r.TraceParent() + trace.SpanContextFromContext(ctx).TraceID().String()
			return nil, nil
		}))
		w.trigger()
		if got := <-found; got != (trace.TraceID{}).String() {
			t.Errorf("trace %q", got)
		}
	})
}
