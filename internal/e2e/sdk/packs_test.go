package sdk_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

// many is a configuration for several packs of runs at once.
func many() executor.Config { return executor.Config{Slots: 500, Patience: time.Second} }

// unwatched is a trigger of a run for whose end nobody waits.
func unwatched(t *bus.Trigger) { t.Report = bus.SubjectEnds(0, "g") }

// triggers publishes n triggers of runs that nobody watches.
func (w *world) triggers(n int, change ...func(*bus.Trigger)) (all []*bus.Trigger) {
	w.t.Helper()
	for range n {
		all = append(all, w.trigger(append(change, unwatched)...))
	}
	return all
}

// together is a handler whose runs end at the same instant, in five seconds.
func (c *counter) together() executor.HandlerFunc {
	at := time.Now().Add(5 * time.Second)
	return func(context.Context, *executor.Run) (any, error) {
		c.enter()
		defer c.leave()
		time.Sleep(time.Until(at))
		return nil, nil
	}
}

// wantEnds checks that each of the runs has ended once, as succeeded, and returns how many messages of
// each kind say so.
func (w *world) wantEnds(runs []*bus.Trigger) (alone, packs int) {
	w.t.Helper()
	ends := map[job.RunID]int{}
	err := w.conn.Scan(w.t.Context(), bus.StreamEvt, "evt.>", func(m *jet.Stored) bool {
		finished := false
		for e, err := range w.conn.Events().Decode(m.Subject, m.Header, m.Data, m.At) {
			if err != nil {
				w.t.Error(err)
			} else if e.Kind == bus.EventFinished {
				finished = true
				if ends[e.RunID]++; e.Status != job.StatusSucceeded {
					w.t.Errorf("run %s has ended as %s: %s", e.RunID, e.Status, e.Message)
				}
			}
		}
		switch _, _, packed := bus.ParseSubjectEnds(m.Subject); {
		case packed:
			packs++
		case finished:
			alone++
		}
		return true
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, tr := range runs {
		if ends[tr.RunID] != 1 {
			w.t.Errorf("run %s has %d ends", tr.RunID, ends[tr.RunID])
		}
	}
	return alone, packs
}

func TestRunsThatEndTogetherAreReportedTogether(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		w.start("a", many(), handler(c.together()))
		runs := w.triggers(400)
		time.Sleep(20 * time.Second)
		if alone, packs := w.wantEnds(runs); packs == 0 || alone+packs > len(runs)/4 { // how many depends on the machine
			t.Errorf("%d ends came alone, the others in %d packs", alone, packs)
		}
		w.wantTriggers(0)
		if c.total() != len(runs) {
			t.Errorf("%d runs were begun", c.total())
		}
	})
}

func TestARunThatEndsAloneIsReportedAloneAtOnce(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		w.start("a", many(), handler(c.sleeper(500*time.Millisecond)))
		runs := w.triggers(1)
		time.Sleep(501 * time.Millisecond)
		if alone, packs := w.wantEnds(runs); alone != 1 || packs != 0 {
			t.Errorf("%d ends came alone, and there are %d packs", alone, packs)
		}
		w.wantTriggers(0)
	})
}

func TestRunsThatSomebodyWatchesAreReportedAlone(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		w.start("a", many(), handler(c.together()))
		var runs []*bus.Trigger
		for range 50 {
			runs = append(runs, w.trigger())
		}
		time.Sleep(20 * time.Second)
		if alone, packs := w.wantEnds(runs); alone != len(runs) || packs != 0 {
			t.Errorf("%d ends came alone, and there are %d packs", alone, packs)
		}
	})
}

// What is sent again has the same id, so JetStream does not store it twice. No trigger is acknowledged
// before it is known that the end is stored.
func TestAPackIsSentAgainUntilItIsKnownToBeStored(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		w.start("a", many(), handler(c.together()))
		runs := w.triggers(100)
		time.Sleep(time.Second)
		w.broker.LoseEventAcks("a")
		time.Sleep(19 * time.Second)
		w.wantTriggers(100)
		w.broker.Heal("a")
		time.Sleep(20 * time.Second)
		w.wantTriggers(0)
		w.wantEnds(runs)
	})
}

// The executor dies after its pack is stored, and before it has acknowledged a trigger: they come again.
func TestWhoJudgesATriggerFindsItsEndInAPack(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		w.start("a", many(), handler(c.together()))
		runs := w.triggers(100)
		time.Sleep(time.Second)
		w.broker.LoseAcks("a")
		time.Sleep(5 * time.Second)
		w.wantEnds(runs)
		w.wantTriggers(100)
		w.broker.Partition("a")
		w.start("b", many(), handler(c.sleeper(0)))
		time.Sleep(bus.AckWait + 30*time.Second)
		w.wantTriggers(0)
		if c.total() != len(runs) {
			t.Errorf("%d runs were begun, of %d", c.total(), len(runs))
		}
	})
}

func TestAPackIsTakenApartForANATSThatTakesLess(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		w.start("a", many(), handler(c.together()))
		runs := w.triggers(400)
		time.Sleep(time.Second)
		w.broker.Stop()
		time.Sleep(10 * time.Second) // more have ended than one pack has
		w.shrink()
		time.Sleep(time.Minute)
		w.wantEnds(runs)
		w.wantTriggers(0)
	})
}

func TestAnExecutorThatStopsReportsThePacksFirst(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		a := w.start("a", executor.Config{Slots: 500, Grace: 10 * time.Second}, handler(c.together()))
		runs := w.triggers(300)
		time.Sleep(time.Second)
		a.stop()
		w.wantEnds(runs)
		w.wantTriggers(0)
	})
}

// Each end in a pack is kept on disk by itself, and the next process reports it alone.
func TestEndsInPacksAreKeptOnDisk(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, dir, c := newWorld(t), filepath.Join(t.TempDir(), "spool"), &counter{}
		next := w.opened("next")
		cfg := spooling(dir)
		cfg.Slots = 100
		a := w.start("a", cfg, handler(c.together()))
		runs := w.triggers(20)
		time.Sleep(time.Second)
		w.broker.Stop()
		time.Sleep(20 * time.Second)
		a.stop()
		wantFiles(t, dir, slices.Repeat([]string{".json"}, len(runs))...)
		w.broker.Start()
		time.Sleep(10 * time.Second)
		w.startOn(next, "a", cfg, handler(c.sleeper(time.Second)))
		time.Sleep(time.Minute)
		wantFiles(t, dir)
		w.wantEnds(runs)
		w.wantTriggers(0)
		if c.total() != len(runs) {
			t.Errorf("%d runs were begun, of %d", c.total(), len(runs))
		}
	})
}

// An attempt that must not be done twice keeps its claim until its end is stored.
func TestAClaimStandsUntilThePackIsStored(t *testing.T) {
	bustest.Run(t, began, func(t *testing.T) {
		w, c := newWorld(t), &counter{}
		w.start("a", many(), handler(c.together()))
		runs := w.triggers(20, atMostOnce)
		time.Sleep(time.Second)
		w.broker.LoseEventAcks("a")
		over := func() (n int) {
			err := w.conn.Scan(t.Context(), "KV_"+bus.BucketClaim, "$KV."+bus.BucketClaim+".>", func(m *jet.Stored) bool {
				if strings.Contains(string(m.Data), `"ended":true`) {
					n++
				}
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		time.Sleep(10 * time.Second)
		if n := over(); n != 0 {
			t.Errorf("%d claims were let go before the ends were known to be stored", n)
		}
		w.broker.Heal("a")
		time.Sleep(20 * time.Second)
		if n := over(); n != len(runs) {
			t.Errorf("%d claims were let go, of %d", n, len(runs))
		}
		w.wantEnds(runs)
	})
}
