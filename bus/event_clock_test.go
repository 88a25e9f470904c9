package bus_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
)

// A run of 2 s on a machine with a wrong clock took 2 s, and it did not begin before it was triggered.
func TestTheTimesOfAWrongClockAreMovedTogether(t *testing.T) {
	f := func(off, took time.Duration, word string) {
		t.Helper()
		m := endEvent(t, func(e *bus.Event) {
			e.CommittedAt = fired
			e.DeliveredAt, e.StartedAt = fired.Add(off), fired.Add(off)
			e.FinishedAt = fired.Add(off + took)
			e.At = e.FinishedAt
		})
		stored := fired.Add(took + 20*time.Millisecond)
		e, err := tokens.DecodeEvent(m.Subject, m.Header, m.Data, stored, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.FinishedAt.Sub(e.StartedAt); got != took {
			t.Errorf("%s off: it took %s, want %s", off, got, took)
		}
		if e.StartedAt.Before(fired.Add(-time.Minute)) || e.FinishedAt.After(stored) {
			t.Errorf("%s off: from %s to %s", off, e.StartedAt, e.FinishedAt)
		}
		if word == "" && strings.Contains(e.Message, "clock") || !strings.Contains(e.Message, word) {
			t.Errorf("%s off: message %q, want %q in it", off, e.Message, word)
		}
	}
	f(0, 2*time.Second, "")
	f(10*time.Minute, 2*time.Second, "clock was about 10m ahead")
	f(10*time.Minute, 20*time.Minute, "clock was about 10m ahead")
	f(-10*time.Minute, 2*time.Second, "clock was about 10m behind")
	f(-26*time.Hour, 2*time.Second, "clock was about 26h behind")
	f(-20*time.Second, 2*time.Second, "") // clocks differ
}

// A run that was late is no run with a wrong clock.
func TestAnEndThatIsStoredLateIsNotMoved(t *testing.T) {
	m := endEvent(t, func(e *bus.Event) { e.CommittedAt = fired })
	var sent bus.Event
	if err := json.Unmarshal(m.Data, &sent); err != nil {
		t.Fatal(err)
	}
	e, err := tokens.DecodeEvent(m.Subject, m.Header, m.Data, fired.Add(5*time.Hour), 64)
	if err != nil || e.Message != sent.Message || !e.FinishedAt.Equal(sent.FinishedAt) {
		t.Errorf("%v: %q, finished %s", err, e.Message, e.FinishedAt)
	}
}
