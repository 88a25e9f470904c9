package bus_test

import (
	"strings"
	"testing"

	"github.com/carillon-scheduler/carillon/bus"
)

func TestARunIsItsTrace(t *testing.T) {
	const run = "019b76da-a800-7c3e-9d5b-0f4e2a6c8b1d"
	first, second := bus.FireTrace(run, 1), bus.FireTrace(run, 2)
	for attempt, got := range []string{first, second} {
		parts := strings.Split(got, "-")
		if len(parts) != 4 || parts[0] != "00" || parts[1] != "019b76daa8007c3e9d5b0f4e2a6c8b1d" || len(parts[2]) != 16 || parts[3] != "01" {
			t.Errorf("attempt %d has the trace context %q", attempt+1, got)
		}
	}
	if first == second || bus.FireTrace(run, 1) != first {
		t.Errorf("spans of two attempts: %s and %s", first, second)
	}
	if bus.FireTrace("", 1) != "" || bus.FireTrace("x", 1) != "" {
		t.Error("what is no run has a trace")
	}
}
