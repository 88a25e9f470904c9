package ping

import (
	"strconv"
	"testing"
	"time"
)

var noon = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

func TestARateTakesABurstAndThenSoManyAMinute(t *testing.T) {
	r, now := newRate(60, 120, 0), noon
	takes := func(key string, most int) (n int) {
		for range most {
			if r.take(key, now) == 0 {
				n++
			}
		}
		return n
	}
	if n := takes("a", 200); n != 120 {
		t.Errorf("a burst of %d", n)
	}
	if wait := r.take("a", now); wait <= 0 || wait > time.Second {
		t.Errorf("wait %s", wait)
	}
	if n := takes("b", 1); n != 1 {
		t.Error("another key waits")
	}
	now = now.Add(10 * time.Second)
	if n := takes("a", 200); n != 10 {
		t.Errorf("%d after ten seconds", n)
	}
	now = now.Add(-time.Hour) // the clock is set back
	if n := takes("a", 1); n != 0 {
		t.Error("a clock that is set back gives some")
	}
	now = now.Add(2 * time.Hour)
	if n := takes("a", 200); n != 120 {
		t.Errorf("%d after an hour", n)
	}
	now = now.Add(time.Hour)
	if takes("c", 1); len(r.buckets) != 1 {
		t.Errorf("%d keys are counted", len(r.buckets))
	}
}

// Whoever has many addresses must not take all memory, nor the share of others who have none yet.
func TestARateCountsABoundedNumberOfKeysApart(t *testing.T) {
	r := newRate(20, 20, 100)
	taken := 0
	for i := range 10_000 {
		if r.take(strconv.Itoa(i), noon) == 0 {
			taken++
		}
	}
	if len(r.buckets) != 100 || taken != 100+20 {
		t.Errorf("%d keys, %d taken", len(r.buckets), taken)
	}
}
