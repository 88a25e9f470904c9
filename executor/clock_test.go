package executor

import (
	"testing"
	"time"
)

func TestAClockIsCorrectedOnlyIfItIsWrong(t *testing.T) {
	var c clock
	stored := time.Date(2026, 1, 5, 2, 0, 0, 0, time.UTC)
	f := func(ahead, want time.Duration, changed bool) {
		t.Helper()
		if got := c.compare(stored.Add(ahead), stored); got != changed {
			t.Errorf("%s ahead: changed %t, want %t", ahead, got, changed)
		}
		if got := stored.Sub(c.at(stored)); got != want {
			t.Errorf("%s ahead: corrected by %s, want %s", ahead, got, want)
		}
	}
	f(time.Second, 0, false)
	f(10*time.Minute, 10*time.Minute, true)
	f(10*time.Minute+900*time.Millisecond, 10*time.Minute, false) // it was on its way
	f(-10*time.Minute, -10*time.Minute, true)
	f(time.Second, 0, true)
	if !c.at(time.Time{}).IsZero() {
		t.Error("no time has become one")
	}
}
