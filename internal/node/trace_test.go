package node

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/internal/otlp"
)

func TestRejectedSpansAreCountedAndLoggedInSteps(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	report := reportTo(t.Context(), doubling.Logger(log))
	report(errors.New("no route"))
	for range 5 {
		report(&otlp.PartialError{Collector: "http://collector", Rejected: 3, Sent: 9, Message: "too long"})
	}
	want := `level=WARN msg="traces not sent" error="no route"
level=WARN msg="warning of the trace collector" error="http://collector rejects 3 of 9 spans: \"too long\"" rejected_spans=3
level=WARN msg="warning of the trace collector" error="http://collector rejects 3 of 9 spans: \"too long\"" rejected_spans=6 times=2
level=WARN msg="warning of the trace collector" error="http://collector rejects 3 of 9 spans: \"too long\"" rejected_spans=12 times=4
`
	if got := out.String(); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("logged\n%s\nwant\n%s", got, want)
	}
}
