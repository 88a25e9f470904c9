package dispatch

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestMessagesThatHandOverNothingAreLoggedInDoublings(t *testing.T) {
	var log bytes.Buffer
	d, err := New(nil, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		d.answerTransfer(t.Context(), &nats.Msg{Subject: bus.SubjectHand("alpha"), Data: []byte("x")})
	}
	d.answerTransfer(t.Context(), &nats.Msg{Subject: bus.SubjectHand("beta")})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 13 || !strings.Contains(lines[11], "executor_group=alpha") || !strings.Contains(lines[11], "times=2048") || !strings.Contains(lines[12], "executor_group=beta") {
		t.Errorf("%d lines, the last of them:\n%s", len(lines), strings.Join(lines[max(0, len(lines)-3):], "\n"))
	}
}
