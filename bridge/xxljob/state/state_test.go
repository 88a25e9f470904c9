package state_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/bustest"
	"github.com/carillon-scheduler/carillon/bus/cluster"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
)

var start = time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)

func run(t *testing.T, f func(t *testing.T, s *state.Store)) {
	t.Helper()
	bustest.Run(t, start, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		conn, err := cluster.Connect(jet.Config{Options: []nats.Option{nats.InProcessServer(broker.Dialer("test"))}})
		check(t, err)
		t.Cleanup(conn.NC.Close)
		check(t, conn.Setup(t.Context(), cluster.Assets{Shards: 1}))
		f(t, state.New(conn.Conn))
	})
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnlyWhoServesAnInstanceBeginsRunsThere(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		i := &state.Instance{Group: "billing", Instance: "a", Holder: "one"}
		first, err := s.PutInstance(t.Context(), i, 0)
		check(t, err)
		one := state.Fence{Group: "billing", Instance: "a", Revision: first}
		r := &state.Run{LogID: 100, Trigger: &bus.Trigger{Job: "billing/report"}}
		_, err = s.PutRun(t.Context(), r, one)
		check(t, err)

		i.Holder = "two"
		second, err := s.PutInstance(t.Context(), i, first)
		check(t, err)
		if _, err := s.PutRun(t.Context(), &state.Run{LogID: 101, Trigger: r.Trigger}, one); !errors.Is(err, job.ErrConflict) {
			t.Errorf("a run of who served it before: %v", err)
		}
		if _, err := s.PutInstance(t.Context(), i, first); !errors.Is(err, job.ErrConflict) {
			t.Errorf("taken over at an old revision: %v", err)
		}
		two := state.Fence{Group: "billing", Instance: "a", Revision: second}
		_, err = s.PutRun(t.Context(), &state.Run{LogID: 102, Trigger: r.Trigger}, two)
		check(t, err)
		_, err = s.PutRun(t.Context(), &state.Run{LogID: 100, Trigger: r.Trigger, Ended: true}, two)
		check(t, err)
		live, err := s.Runs(t.Context(), two)
		check(t, err)
		if len(live) != 1 || live[0].LogID != 102 || live[0].Trigger.Job != "billing/report" {
			t.Errorf("live: %+v", live)
		}
	})
}

func TestTheEndOfARunIsForgottenUnlessItsExecutorMayStillReportIt(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		rev, err := s.PutInstance(t.Context(), &state.Instance{Group: "billing", Instance: "a"}, 0)
		check(t, err)
		f := state.Fence{Group: "billing", Instance: "a", Revision: rev}
		trigger := &bus.Trigger{Job: "billing/report"}
		for _, r := range []state.Run{{LogID: 1, Trigger: trigger, Ended: true}, {LogID: 2, Trigger: trigger, GivenUp: true, Token: "t"}} {
			_, err := s.PutRun(t.Context(), &r, f)
			check(t, err)
		}
		time.Sleep(10 * time.Minute)
		if _, _, err := s.Run(t.Context(), "billing", "a", 1); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("reported: %v", err)
		}
		r, _, err := s.Run(t.Context(), "billing", "a", 2)
		check(t, err)
		if r.Token != "t" || r.Live() {
			t.Errorf("given up: %+v", r)
		}
	})
}

func TestNumbersAreGivenOutOnce(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		var mu sync.Mutex
		var firsts []int64
		var g sync.WaitGroup
		for range 20 {
			g.Go(func() {
				first, err := s.TakeBlock(t.Context(), state.Block{Group: "g", Instance: "i"}, 12345)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				firsts = append(firsts, first)
			})
		}
		g.Wait()
		slices.Sort(firsts)
		if firsts[0] < 12345 || len(slices.Compact(firsts)) != 20 {
			t.Errorf("blocks begin at %v", firsts)
		}
		b, err := s.BlockOf(t.Context(), firsts[3]+state.BlockSize-1)
		check(t, err)
		if b.Group != "g" || b.Instance != "i" {
			t.Errorf("block of %+v", b)
		}
		if _, err := s.BlockOf(t.Context(), 7); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("a number that nobody has: %v", err)
		}
	})
}

func TestAJobKeepsItsNumberAndNoOtherHasIt(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		give := func(name job.Name, id, want int32) {
			t.Helper()
			got, err := s.GiveJobID(t.Context(), name, id)
			check(t, err)
			kept, err := s.JobID(t.Context(), name)
			check(t, err)
			if got != want || kept != want {
				t.Errorf("%s has %d and then %d, want %d", name, got, kept, want)
			}
		}
		give("g/imported", 40, 40)
		first, err := s.TakeJobIDs(t.Context(), 10, 1000)
		check(t, err)
		second, err := s.TakeJobIDs(t.Context(), 10, 1000)
		check(t, err)
		if first != 1000 || second != 1010 {
			t.Errorf("numbers from %d and %d on", first, second)
		}
		give("g/new", 1000, 1000)
		give("g/new", 1001, 1000)
		give("g/imported", 1002, 40)
		if _, err := s.GiveJobID(t.Context(), "g/other", 40); !errors.Is(err, job.ErrConflict) {
			t.Errorf("the number of another job: %v", err)
		}
		if _, err := s.JobID(t.Context(), "g/nobody"); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("a job without a number: %v", err)
		}
	})
}

func TestAGroupStandsForOneAppName(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		check(t, s.KeepName(t.Context(), "my-app", "myApp"))
		check(t, s.KeepName(t.Context(), "my-app", "myApp"))
		if err := s.KeepName(t.Context(), "my-app", "my_App"); !errors.Is(err, job.ErrConflict) {
			t.Errorf("another AppName: %v", err)
		}
	})
}

func TestATailBringsWhatChanges(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		tail := s.Tail()
		poll := func(want ...string) {
			t.Helper()
			var got []string
			check(t, tail.Poll(t.Context(), func(c state.Change) {
				switch {
				case c.Bridge != nil:
					got = append(got, "bridge "+c.Bridge.ID)
				case c.Beat != nil:
					got = append(got, "beat "+c.Beat.Key())
				case c.Instance != nil:
					got = append(got, "instance "+c.Instance.Key())
				default:
					got = append(got, "gone "+c.Gone)
				}
			}))
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		poll()
		check(t, s.PutBridge(t.Context(), state.Bridge{ID: "one"}))
		check(t, s.PutBeat(t.Context(), state.Beat{Group: "g", Instance: "i"}))
		_, err := s.PutInstance(t.Context(), &state.Instance{Group: "g", Instance: "i"}, 0)
		check(t, err)
		_, err = s.TakeBlock(t.Context(), state.Block{}, 1)
		check(t, err)
		poll("bridge one", "beat g.i", "instance g.i")
		poll()
		check(t, s.RemoveBridge("one"))
		poll("gone one")
	})
}
