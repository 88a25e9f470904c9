package estimate_test

import (
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/internal/estimate"
)

func TestARunIsExpectedToEndAsThoseThatLastedAsLong(t *testing.T) {
	now := time.Date(2026, 1, 5, 6, 0, 0, 0, time.UTC)
	took := []time.Duration{50 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, 30 * time.Minute}
	is := func(lasted, left time.Duration) {
		t.Helper()
		got, ok := estimate.End(took, now.Add(-lasted), now)
		if want := (estimate.Expected{End: now.Add(left), Usual: 30 * time.Minute, Runs: 5}); !ok || got != want {
			t.Errorf("after %s: got %+v, %v, want %+v", lasted, got, ok, want)
		}
	}
	is(0, 30*time.Minute)
	is(9*time.Minute, 21*time.Minute)
	is(10*time.Minute, 20*time.Minute) // of 20, 30, 40 and 50 minutes
	is(30*time.Minute, 10*time.Minute) // of 40 and 50
	is(49*time.Minute, time.Minute)
	is(50*time.Minute, 0)
	is(10*time.Hour, 0)
	is(-time.Minute, 30*time.Minute) // by a clock that is ahead

	if got, ok := estimate.End(took, time.Time{}, now); !ok || !got.End.Equal(now.Add(30*time.Minute)) {
		t.Errorf("a run that waits ends at %s, %v", got.End, ok)
	}
	if took[0] != 50*time.Minute {
		t.Error("the argument was sorted")
	}
	if got, ok := estimate.End(took[:4], now, now); ok {
		t.Errorf("of four runs follows %+v", got)
	}
}
