package scheduler_test

import (
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/internal/tracing"
	"github.com/carillon-scheduler/carillon/job"
)

func TestAFireIsTheRootOfItsRunsTrace(t *testing.T) {
	run(t, func(w *world) {
		kept := tracetest.NewInMemoryExporter()
		w.tracer = sdktrace.NewTracerProvider(sdktrace.WithSyncer(kept), sdktrace.WithIDGenerator(tracing.Generator{}))
		w.startNode("a")
		w.put("g/a", job.Schedule{Cron: "* * * * *"})
		time.Sleep(2 * time.Minute)
		spans := kept.GetSpans()
		if len(spans) != 2 {
			w.t.Fatalf("%d spans, want one a fire", len(spans))
		}
		ids := map[string]bool{}
		for _, id := range w.triggers() {
			ids[strings.ReplaceAll(string(id), "-", "")] = true
		}
		for _, s := range spans {
			if s.Name != "fire g/a" || s.Parent.IsValid() || !ids[s.SpanContext.TraceID().String()] || s.StartTime.Second() != 0 || s.EndTime.Sub(s.StartTime) > time.Second {
				w.t.Errorf("span %s of trace %s from %s to %s", s.Name, s.SpanContext.TraceID(), s.StartTime, s.EndTime)
			}
		}
		err := w.conn.Scan(w.t.Context(), bus.StreamTrig, "trig.>", func(m *jet.Stored) bool {
			tr, err := bus.DecodeTrigger(m.Header, m.Data)
			if err != nil {
				w.t.Fatal(err)
			}
			if got, want := m.Header.Get(bus.HeaderTrace), bus.FireTrace(tr.RunID, 1); got != want {
				w.t.Errorf("the trigger says %q, want %q", got, want)
			}
			return true
		})
		if err != nil {
			w.t.Fatal(err)
		}
	})
}
