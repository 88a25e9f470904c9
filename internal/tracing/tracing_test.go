package tracing

import (
	"testing"

	"go.opentelemetry.io/otel/trace"
)

func TestARunIsItsTrace(t *testing.T) {
	const run = "019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d"
	first, second := Fire(run, 1), Fire(run, 2)
	if got := first.TraceID().String(); got != "019b76daa8007c3e9d5b0f4e2a6c8b1d" || second.TraceID() != first.TraceID() {
		t.Errorf("trace %s", got)
	}
	if first.SpanID() == second.SpanID() || Fire(run, 1).SpanID() != first.SpanID() || !first.IsValid() {
		t.Errorf("spans %s and %s", first.SpanID(), second.SpanID())
	}
	if got, want := Parent(first), "00-019b76daa8007c3e9d5b0f4e2a6c8b1d-"+first.SpanID().String()+"-01"; got != want {
		t.Errorf("W3C context %s, want %s", got, want)
	}
	if Parent(trace.SpanContext{}) != "" || Fire("", 1).IsValid() || Fire("x", 1).IsValid() {
		t.Error("no run has a trace")
	}
}

func TestSpansAreNamedAsWantedElseAtRandom(t *testing.T) {
	want := Fire("019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d", 1)
	if id, span := (Generator{}).NewIDs(Wanting(t.Context(), want)); id != want.TraceID() || span != want.SpanID() {
		t.Errorf("%s %s", id, span)
	}
	a, _ := Generator{}.NewIDs(t.Context())
	b, _ := Generator{}.NewIDs(t.Context())
	if !a.IsValid() || a == b {
		t.Errorf("%s and %s", a, b)
	}
}
