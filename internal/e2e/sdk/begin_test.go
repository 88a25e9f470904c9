package sdk_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/runner/runnertest"
)

func TestAnAttemptWhoseTimeIsOverWhenItComesIsNotBegun(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w := newWorld(t)
		var c counter
		w.start("a", executor.Config{}, handler(c.sleeper(time.Second)))
		tr := w.trigger(func(t *bus.Trigger) { t.EndBy = time.Now().Add(-time.Second) })
		time.Sleep(5 * time.Second)
		w.wantStatus(tr.RunID, job.StatusTimedOut, "")
		if c.total() != 0 {
			t.Errorf("its handler was called %d times", c.total())
		}
	})
}

func TestAnAttemptThatAStopFindsBeforeItHasBegunIsNotLost(t *testing.T) {
	for name, test := range map[string]struct {
		room   int64
		silent bool
		status job.Status
		runs   int
	}{
		"its claim is refused":           {1, false, job.StatusSucceeded, 1},
		"its claim is not stored":        {1, true, job.StatusSucceeded, 1},
		"its claim is stored unanswered": {-1, true, job.StatusLost, 0}, // nobody can tell that it has not begun
	} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			claims := "KV_" + bus.BucketClaim
			w.change(claims, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes, cfg.NoAck = test.room, test.silent })
			var a, b counter
			stopping := w.start("a", executor.Config{Grace: time.Second}, handler(a.sleeper(time.Second)))
			tr := w.trigger(atMostOnce)
			time.Sleep(time.Second)
			stopping.stop()
			w.change(claims, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes, cfg.NoAck = -1, false })
			w.start("b", executor.Config{}, handler(b.sleeper(time.Second)))
			time.Sleep(time.Minute)
			w.wantStatus(tr.RunID, test.status, "")
			if a.total() != 0 || b.total() != test.runs {
				t.Errorf("%s: a did it %d times, b %d times; want 0 and %d", name, a.total(), b.total(), test.runs)
			}
			w.wantTriggers(0)
		})
	}
}

type angry struct{}

func (angry) Error() string                { panic("no text") }
func (angry) MarshalJSON() ([]byte, error) { panic("no JSON") }

type failure struct{ code *int }

func (f *failure) Error() string { return string(rune(*f.code)) }

func TestAResultOrErrorThatPanicsFailsItsRunAndNoOther(t *testing.T) {
	for _, test := range []struct {
		result any
		err    error
		says   string
	}{
		{angry{}, nil, "no JSON"},
		{nil, angry{}, "no text"},
		{nil, (*failure)(nil), "nil pointer"},
	} {
		bustest.Run(t, began, func(t *testing.T) {
			w := newWorld(t)
			w.start("a", executor.Config{}, handler(func(_ context.Context, run *executor.Run) (any, error) {
				if run.Params() == nil {
					return nil, nil
				}
				return test.result, test.err
			}))
			bad, good := w.trigger(func(t *bus.Trigger) { t.Params = []byte("1") }), w.trigger()
			time.Sleep(5 * time.Second)
			w.wantStatus(bad.RunID, job.StatusFailed, test.says)
			w.wantStatus(good.RunID, job.StatusSucceeded, "")
			w.wantTriggers(0)
		})
	}
}

// ender hears of the ends of attempts.
type ender chan executor.End

func (e ender) Begun(ctx context.Context, _ *executor.Run) (context.Context, func(executor.End)) {
	return ctx, func(end executor.End) { e <- end }
}
func (ender) Slots(int, int)              {}
func (ender) Counted(executor.Count, int) {}

// It runs in real time: in a bubble, there is only one clock.
func TestHowLongAnAttemptTookDoesNotDependOnTheClockBeingSet(t *testing.T) {
	ends := make(ender, 1)
	cfg := executor.Config{Observers: []executor.NewObserver{func(executor.About) (executor.Observer, error) { return ends, nil }}}
	w := runnertest.New(t, cfg, handler(func(context.Context, *executor.Run) (any, error) { return nil, nil }))
	w.Run(job.Task{Handler: "h"})
	end := <-ends
	for _, at := range []time.Time{end.Delivered, end.Started, end.Ended} {
		if !strings.Contains(at.String(), " m=") { // which differences and comparisons go by then
			t.Errorf("%s has no reading of the monotonic clock", at)
		}
	}
}
