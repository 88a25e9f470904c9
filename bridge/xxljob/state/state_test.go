package state_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/job"
)

var start = time.Date(2026, time.January, 5, 2, 0, 0, 0, time.UTC)

// run runs f twice: with the rights of a server, and with those of a bridge of two groups.
func run(t *testing.T, f func(t *testing.T, s *state.Store)) {
	t.Helper()
	for _, groups := range [][]string{nil, {"billing", "g"}} {
		t.Run(fmt.Sprint(groups), func(t *testing.T) {
			bustest.Run(t, start, func(t *testing.T) {
				conn := clustertest.Setup(t, bustest.NewBroker(t), "test", 1)
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- conn.Bridges().Serve(ctx) }()
				synctest.Wait() // until it hears requests
				f(t, state.New(conn.Conn, groups...))
				stop()
				check(t, <-ended)
			})
		})
	}
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
		check(t, s.PutRun(t.Context(), r, one))

		i.Holder = "two"
		second, err := s.PutInstance(t.Context(), i, first)
		check(t, err)
		if err := s.PutRun(t.Context(), &state.Run{LogID: 101, Trigger: r.Trigger}, one); !errors.Is(err, job.ErrConflict) {
			t.Errorf("a run of who served it before: %v", err)
		}
		if _, err := s.PutInstance(t.Context(), i, first); !errors.Is(err, job.ErrConflict) {
			t.Errorf("taken over at an old revision: %v", err)
		}
		two := state.Fence{Group: "billing", Instance: "a", Revision: second}
		check(t, s.PutRun(t.Context(), &state.Run{LogID: 102, Trigger: r.Trigger}, two))
		check(t, s.PutRun(t.Context(), &state.Run{LogID: 100, Trigger: r.Trigger, Ended: true}, two))
		live, err := s.Runs(t.Context(), two)
		check(t, err)
		if len(live) != 1 || live[0].LogID != 102 || live[0].Trigger.Job != "billing/report" {
			t.Errorf("live: %+v", live)
		}
	})
}

func TestARunIsKnownUntilAnotherTakesItsCellAndOneThatWasGivenUpLonger(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		f := serve(t, s)
		trigger := &bus.Trigger{Job: "billing/report"}
		put := func(r state.Run) {
			t.Helper()
			r.Trigger = trigger
			check(t, s.PutRun(t.Context(), &r, f))
		}
		want := func(logID int64, want string) {
			t.Helper()
			r, _, err := s.Run(t.Context(), "billing", "a", logID)
			is := "live"
			switch {
			case errors.Is(err, job.ErrNotFound):
				is = "not known"
			case err != nil:
				t.Fatal(err)
			case r.Ended:
				is = "ended"
			case r.GivenUp:
				is = "given up, token " + r.Token
			}
			if is != want {
				t.Errorf("run %d is %s, want %s", logID, is, want)
			}
		}
		put(state.Run{LogID: 1, Ended: true})
		put(state.Run{LogID: 2, GivenUp: true, Token: "t"})
		put(state.Run{LogID: 3})
		time.Sleep(24 * time.Hour)
		want(1, "ended")
		want(2, "given up, token t")
		want(3, "live")
		put(state.Run{LogID: 1 + state.Cells})
		put(state.Run{LogID: 2 + state.Cells})
		want(1, "not known")
		want(2, "given up, token t")
		want(1+state.Cells, "live")
		r, revision, err := s.Run(t.Context(), "billing", "a", 2)
		check(t, err)
		check(t, s.EndRun(t.Context(), "billing", "a", r, revision)) // reported late
		want(2, "ended")
		want(2+state.Cells, "live")
		live, err := s.Runs(t.Context(), f)
		check(t, err)
		if len(live) != 3 { // 3, and the two that took a cell
			t.Errorf("live: %+v", live)
		}
	})
}

// A replica that lags behind does not know the number that the write has just met.
func TestAJobThatHasANumberKeepsItThoughAReplicaLagsBehind(t *testing.T) {
	bustest.Run(t, start, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		s := state.New(clustertest.Setup(t, broker, "test", 1).Conn)
		late := state.New(clustertest.Open(t, broker, "late").Conn)
		_, err := s.GiveJobID(t.Context(), "billing/report", 7)
		check(t, err)
		lag := func() {
			broker.Lag("late")
			time.AfterFunc(400*time.Millisecond, func() { broker.Heal("late") })
		}
		lag()
		if id, err := late.GiveJobID(t.Context(), "billing/report", 8); err != nil || id != 7 {
			t.Errorf("the job has number %d, %v, want 7", id, err)
		}
		time.Sleep(time.Second)
		lag()
		if _, err := late.GiveJobID(t.Context(), "billing/other", 7); !errors.Is(err, job.ErrConflict) {
			t.Errorf("the number of another job is given: %v", err)
		}
	})
}

// A replica that lags behind still has the run that was in the cell before.
func TestARunIsFoundThoughTheOneBeforeItIsReadFirst(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		f := serve(t, s)
		trigger := &bus.Trigger{Job: "billing/report"}
		check(t, s.PutRun(t.Context(), &state.Run{LogID: 1, Trigger: trigger, Ended: true}, f))
		time.AfterFunc(600*time.Millisecond, func() {
			if err := s.PutRun(t.Context(), &state.Run{LogID: 1 + state.Cells, Trigger: trigger}, f); err != nil {
				t.Error(err)
			}
		})
		r, _, err := s.Run(t.Context(), "billing", "a", 1+state.Cells)
		check(t, err)
		if !r.Live() {
			t.Errorf("found %+v", r)
		}
	})
}

// A killed NATS finds again what was replaced by a value that was forgotten before.
func TestARunThatHasEndedIsNotLiveAgainWhenNATSIsKilled(t *testing.T) {
	bustest.Run(t, start, func(t *testing.T) {
		broker := bustest.NewBroker(t)
		s := state.New(clustertest.Setup(t, broker, "test", 1).Conn)
		f := serve(t, s)
		trigger := &bus.Trigger{Job: "billing/report"}
		check(t, s.PutRun(t.Context(), &state.Run{LogID: 1, Trigger: trigger}, f))
		check(t, s.PutRun(t.Context(), &state.Run{LogID: 1, Trigger: trigger, Ended: true}, f))
		time.Sleep(24 * time.Hour)
		check(t, s.PutRun(t.Context(), &state.Run{LogID: 2, Trigger: trigger}, f)) // so that NATS reads the file: its index does not have this
		broker.Kill()
		broker.Start()
		time.Sleep(time.Minute)
		live, err := s.Runs(t.Context(), f)
		check(t, err)
		if len(live) != 1 || live[0].LogID != 2 {
			t.Errorf("live: %+v", live)
		}
	})
}

// serve stores an instance, and returns the fence of who serves it.
func serve(t *testing.T, s *state.Store) state.Fence {
	t.Helper()
	revision, err := s.PutInstance(t.Context(), &state.Instance{Group: "billing", Instance: "a"}, 0)
	check(t, err)
	return state.Fence{Group: "billing", Instance: "a", Revision: revision}
}

func TestNumbersAreGivenOutOnce(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		var mu sync.Mutex
		var firsts []int64
		var g sync.WaitGroup
		for range 20 {
			g.Go(func() {
				first, err := s.TakeBlock(t.Context(), state.Block{Group: "g", Instance: "i"})
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
		if firsts[0] < state.FirstLogID("g") || len(slices.Compact(firsts)) != 20 {
			t.Errorf("blocks begin at %v", firsts)
		}
		b, err := s.BlockOf(t.Context(), "g", firsts[3]+state.BlockSize-1)
		check(t, err)
		if b.Group != "g" || b.Instance != "i" {
			t.Errorf("block of %+v", b)
		}
		if _, err := s.BlockOf(t.Context(), "g", 7); !errors.Is(err, job.ErrNotFound) {
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
		first, err := s.TakeJobIDs(t.Context(), "g", 10, 1000)
		check(t, err)
		second, err := s.TakeJobIDs(t.Context(), "g", 10, 1000)
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
					got = append(got, "gone "+c.Gone.ID)
				}
			}))
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		}
		poll()
		check(t, s.PutBridge(t.Context(), state.Bridge{ID: "one", Group: "g"}))
		check(t, s.PutBeat(t.Context(), state.Beat{Group: "g", Instance: "i", Address: "http://h:1"}))
		_, err := s.PutInstance(t.Context(), &state.Instance{Group: "g", Instance: "i", Address: "http://h:1"}, 0)
		check(t, err)
		_, err = s.TakeBlock(t.Context(), state.Block{Group: "g"})
		check(t, err)
		poll("bridge one", "beat g.i", "instance g.i")
		poll()
		check(t, s.RemoveBridge(state.Bridge{ID: "one", Group: "g"}))
		synctest.Wait() // until the server has stored it: nobody waits for its answer
		poll("gone one")
	})
}

func TestLogIDsTellTheirGroup(t *testing.T) {
	for _, group := range []string{"a", "billing", "b2-reports"} {
		first := state.FirstLogID(group)
		if first <= 1<<32 || first >= 1<<53-1<<32 {
			t.Errorf("%s: log ids from %d on have more than 53 bits, or may be an old admin's", group, first)
		}
		if !state.MayHaveLogID(group, first) || !state.MayHaveLogID(group, first+1<<32-1) || state.MayHaveLogID(group, first-1) || state.MayHaveLogID("other", first) {
			t.Errorf("%s does not know its log ids from %d on", group, first)
		}
	}
}

func TestWhatIsStoredUnderTheKeyOfAnotherSaysNothing(t *testing.T) {
	run(t, func(t *testing.T, s *state.Store) {
		t.Helper()
		check(t, s.Put(t.Context(), "g.fleet.inst.i", state.Instance{Group: "billing", Instance: "i", Address: "http://h:1"}))
		check(t, s.Put(t.Context(), "g.fleet.beat.i", state.Beat{Group: "billing", Instance: "i", Address: "http://h:1"}))
		check(t, s.Put(t.Context(), "g.fleet.inst.x", state.Instance{Group: "g", Instance: "x", Address: "http://h:1/../x"}))
		check(t, s.Put(t.Context(), "g.fleet.beat.x", state.Beat{Group: "g", Instance: "x", Address: "http://h:1/<script>"}))
		check(t, s.Put(t.Context(), "g.fleet.bridge.b", state.Bridge{Group: "billing", ID: "b"}))
		check(t, s.Tail().Poll(t.Context(), func(c state.Change) { t.Errorf("heard %+v", c) }))
		first, err := s.TakeBlock(t.Context(), state.Block{Group: "g", Instance: "i"})
		check(t, err)
		check(t, s.Put(t.Context(), fmt.Sprintf("g.block.%d", first/state.BlockSize), state.Block{Group: "billing", Instance: "i"}))
		if b, err := s.BlockOf(t.Context(), "g", first); !errors.Is(err, job.ErrNotFound) {
			t.Errorf("block %+v, %v", b, err)
		}
	})
}
