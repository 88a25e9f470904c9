package ingest_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// forecast returns what waits of log lines, and when it will have been written.
func (w *world) forecast() (lines fleet.IngestBacklog, end time.Time) {
	w.t.Helper()
	backlogs, err := w.conn.Ingest().Backlogs(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	p, err := w.conn.Ingest().Pace(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	end = p.Forecast(backlogs, time.Now())
	for _, b := range backlogs {
		if b.Stream == bus.StreamLog {
			lines = b
		}
	}
	return lines, end
}

func TestWhileItCatchesUpItTellsForHowLong(t *testing.T) {
	run(t, func(w *world) {
		w.maxBatch = 10
		in := w.start("a")
		left := func() float64 { return in.counter("carillon_ingest_catch_up_seconds", "stream", bus.StreamLog) }
		pace := func() float64 {
			return in.counter("carillon_ingest_catch_up_messages_per_second", "stream", bus.StreamLog)
		}
		time.Sleep(time.Minute)
		if left() != 0 || pace() != 0 {
			t.Errorf("with nothing to do %v s are left at %v/s", left(), pace())
		}

		w.store.hook(func(string) error { return errors.New("away") }, nil)
		for n := range 600 {
			w.print(fire{report, n}.log("one"))
		}
		time.Sleep(time.Minute)
		if lines, end := w.forecast(); lines.Messages != 600 || lines.PerSecond != 0 || !end.IsZero() {
			t.Errorf("while the store is away the forecast is %s, of %+v", end, lines)
		}
		if !math.IsInf(left(), 1) || pace() != 0 {
			t.Errorf("while the store is away the metrics tell of %v s, %v/s", left(), pace())
		}
		if got := in.counter("carillon_ingest_lag_messages", "stream", bus.StreamLog); got != 600 {
			t.Errorf("while the store is away the metric tells of %v messages that wait; want 600", got)
		}

		// Ten messages in two seconds, of which nothing is said before it has been seen to be so.
		w.store.hook(func(token string) error {
			if strings.HasPrefix(token, bus.StreamLog) {
				time.Sleep(2 * time.Second)
			}
			return nil
		}, nil)
		time.Sleep(time.Minute)
		lines, end := w.forecast()
		if lines.PerSecond < 4 || lines.PerSecond > 6 || math.Abs(pace()-lines.PerSecond) > 0.1 {
			t.Errorf("of %+v as the metric tells %v/s; want 5", lines, pace())
		}
		if got := left(); got < 30 || got > 90 {
			t.Errorf("the metric tells of %v s", got)
		}
		for lines.Messages > 0 {
			time.Sleep(time.Second)
			lines, _ = w.forecast()
		}
		if off := time.Since(end).Abs(); off > 15*time.Second {
			t.Errorf("it was to have caught up at %s, and has at %s", end, time.Now())
		}
		time.Sleep(10 * time.Second)
		if _, end := w.forecast(); !end.IsZero() || left() != 0 || pace() != 0 {
			t.Errorf("having caught up it tells of %s, %v s, %v/s", end, left(), pace())
		}
	})
}

// What comes as fast as it is taken is never caught up with.
func TestABacklogThatDoesNotShrinkHasNoEnd(t *testing.T) {
	run(t, func(w *world) {
		w.maxBatch = 10
		w.start("a")
		w.store.hook(func(token string) error {
			if strings.HasPrefix(token, bus.StreamLog) {
				time.Sleep(2 * time.Second)
			}
			return nil
		}, nil)
		for n := range 100 {
			w.print(fire{report, n}.log("one"))
		}
		for n := range 60 {
			for i := range 6 { // one more than are taken
				w.print(fire{report, 100 + 6*n + i}.log("one"))
			}
			time.Sleep(time.Second)
		}
		if lines, end := w.forecast(); lines.PerSecond != 0 || !end.IsZero() || !lines.Behind(time.Now()) {
			t.Errorf("the forecast is %s, of %+v", end, lines)
		}
	})
}
