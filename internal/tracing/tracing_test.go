package tracing

import (
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestAFireIsTheSpanThatMessagesName(t *testing.T) {
	const run = "019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d"
	first := Fire(t.Context(), run, 1)
	if got, want := "00-"+first.TraceID().String()+"-"+first.SpanID().String()+"-01", bus.FireTrace(run, 1); got != want {
		t.Errorf("W3C context %s, want %s", got, want)
	}
	if Fire(t.Context(), "", 1).IsValid() || Fire(t.Context(), "x", 1).IsValid() {
		t.Error("what is no run has a trace")
	}
}

func TestSpansAreNamedAsWantedElseAtRandom(t *testing.T) {
	want := Fire(t.Context(), "019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d", 1)
	if id, span := (Generator{}).NewIDs(Wanting(t.Context(), want)); id != want.TraceID() || span != want.SpanID() {
		t.Errorf("%s %s", id, span)
	}
	a, _ := Generator{}.NewIDs(t.Context())
	b, _ := Generator{}.NewIDs(t.Context())
	if !a.IsValid() || a == b {
		t.Errorf("%s and %s", a, b)
	}
}
