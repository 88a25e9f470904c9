package dispatch_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/executor"
	"github.com/carillon-scheduler/carillon/job"
)

func deliveries(n int) func(*bus.Trigger) { return func(t *bus.Trigger) { t.MaxDeliveries = n } }

// dieInHandler starts an instance, lets it run for so long once it has begun something, and kills
// it. It returns false if it begins nothing.
func (w *world) dieInHandler(name string, after time.Duration, change ...func(*executor.Config)) bool {
	w.t.Helper()
	e := w.executor(name, time.Hour, change...)
	defer e.die()
	for range 60 {
		time.Sleep(time.Second)
		if w.began() != "" {
			time.Sleep(after)
			return true
		}
	}
	return false
}

// awaitBegan waits for a minute at most until a run begins, and checks which.
func (w *world) awaitBegan(want string) {
	w.t.Helper()
	for range 60 {
		if got := w.began(); got != "" {
			if got != want {
				w.t.Errorf("began: %q, want %q", got, want)
			}
			return
		}
		time.Sleep(time.Second)
	}
	w.t.Errorf("nothing began, want %q", want)
}

func TestAnAttemptWhoseExecutorDiesIsDeliveredABoundedNumberOfTimes(t *testing.T) {
	type shape struct {
		route    job.Route
		most     int
		lives    time.Duration // of an executor after it has begun
		restarts bool          // of servers in between
	}
	for _, s := range []shape{
		{"", 0, 10 * time.Millisecond, false},
		{"", 0, 10 * time.Second, true},
		{"", 1, 10 * time.Millisecond, false},
		{job.RouteFirst, 0, 10 * time.Millisecond, false},
		{job.RouteFirst, 5, 10 * time.Second, true},
		{job.RouteFailover, 2, 10 * time.Millisecond, false},
	} {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			run(t, func(w *world) {
				_, kill := w.dispatcher("node")
				tr := w.trigger(s.route, deliveries(s.most))
				want := tr.MostDeliveries()
				for i := range want {
					if !w.dieInHandler(fmt.Sprintf("a-%d", i), s.lives) {
						t.Fatalf("delivery %d was not begun", i+1)
					}
					if s.restarts {
						kill()
						_, kill = w.dispatcher(fmt.Sprintf("node-%d", i))
					}
				}
				if w.dieInHandler("b", time.Second) {
					t.Errorf("it was begun again after %d executors had died", want)
				}
				told := w.told(tr)
				last := told[len(told)-1]
				times := "times"
				if want == 1 {
					times = "time"
				}
				if end := fmt.Sprintf("its executor died %d %s while it ran this", want, times); last != fmt.Sprintf("finished lost a-%d %s", want-1, end) && last != "finished lost "+end {
					t.Errorf("told: %q", told)
				}
				if n := len(slices.DeleteFunc(told, func(s string) bool { return !strings.Contains(s, " died or was ") })); n != want {
					t.Errorf("%d deaths were told, want %d", n, want)
				}
				w.wantTriggers(0)
			})
		})
	}
}

func TestWhatIsGivenBackIsNoDeath(t *testing.T) {
	for _, route := range []job.Route{"", job.RouteFirst} {
		run(t, func(w *world) {
			w.dispatcher("node")
			tr := w.trigger(route, deliveries(1))
			for i := range 4 {
				e := w.executor(fmt.Sprintf("a-%d", i), time.Hour)
				time.Sleep(time.Minute)
				w.wantBegan(fmt.Sprintf("a-%d job", i))
				e.stop() // which gives it back
			}
			w.executor("b", time.Second)
			time.Sleep(time.Minute)
			told := w.told(tr)
			if last := told[len(told)-1]; last != "finished succeeded b" {
				t.Errorf("told: %q", told)
			}
			w.wantTriggers(0)
		})
	}
}

func TestADispatcherThatDiesIsNoDeathOfAnExecutor(t *testing.T) {
	run(t, func(w *world) {
		_, kill := w.dispatcher("node-0")
		a := w.executor("a", time.Hour, oneSlot)
		time.Sleep(time.Second)
		w.trigger(job.RouteFirst)
		time.Sleep(time.Second)
		tr := w.trigger(job.RouteFirst, deliveries(1)) // in hand, as a is busy
		for i := range 4 {
			time.Sleep(time.Second)
			kill()
			_, kill = w.dispatcher(fmt.Sprintf("node-%d", i+1))
			time.Sleep(bus.AckWait + 5*time.Second)
		}
		if err := a.SetSlots(2); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		w.wantBegan("a job, a job")
		for _, told := range w.told(tr) {
			if told != "started a" && told != "held no instance is free; a is busy (1/1)" {
				t.Errorf("told: %q", told)
			}
		}
	})
}

// dieWith starts an executor, triggers jobs there, and kills it while it runs them.
func (w *world) dieWith(jobs ...job.Name) {
	a := w.executor("a", time.Hour)
	time.Sleep(time.Second)
	for _, name := range jobs {
		w.trigger("", named(name))
	}
	time.Sleep(10 * time.Second)
	a.die()
}

func TestAnAttemptWhoseExecutorDiedIsHandedOutAlone(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.dieWith("g/suspect")
		w.wantBegan("a suspect")
		w.trigger("", named("g/before"))
		w.executor("b", 15*time.Second)
		time.Sleep(12 * time.Second)
		w.wantBegan("b before") // beside which the suspect does not begin
		w.awaitBegan("b suspect")
		w.trigger("", named("g/pulled"))
		w.trigger(job.RouteFirst, named("g/routed"))
		time.Sleep(10 * time.Second)
		w.wantBegan("")
		time.Sleep(10 * time.Second) // by now the suspect has ended
		if got := w.began(); got != "b pulled, b routed" && got != "b routed, b pulled" {
			t.Errorf("began: %q", got)
		}
	})
}

func TestNobodyWaitsForeverForASuspect(t *testing.T) {
	run(t, func(w *world) {
		w.dispatcher("node")
		w.dieWith("g/suspect", "g/another")
		w.began()
		w.executor("b", time.Hour)
		time.Sleep(30 * time.Second)
		one := w.began()
		if one != "b suspect" && one != "b another" {
			t.Fatalf("began: %q, want one of the suspects", one)
		}
		w.trigger("", named("g/next"))
		time.Sleep(20 * time.Second)
		w.wantBegan("")
		time.Sleep(time.Minute)
		if got := w.began(); len(got) != len("b suspect, b next") {
			t.Errorf("began: %q", got)
		}
	})
}

func TestAnAttemptThatHadToEndIsTimedOutWhenItComesAgain(t *testing.T) {
	for _, route := range []job.Route{"", job.RouteFirst} {
		run(t, func(w *world) {
			w.dispatcher("node")
			tr := w.trigger(route, func(t *bus.Trigger) { t.EndBy = t.CommittedAt.Add(20 * time.Second) })
			w.dieInHandler("a", 5*time.Second)
			b := w.executor("b", time.Hour)
			time.Sleep(time.Minute)
			b.die()
			w.wantBegan("")
			told := w.told(tr)
			if last, want := told[len(told)-1], "finished timed_out a the run had to end by 2026-01-05T02:00:20Z, with all its attempts"; last != want {
				t.Errorf("told: %q, want %q", told, want)
			}
			w.wantTriggers(0)
		})
	}
}

func TestACancelledAttemptIsNotBegunAgainWhenItsExecutorDies(t *testing.T) {
	for _, change := range []func(*bus.Trigger){func(*bus.Trigger) {}, atMostOnce} {
		run(t, func(w *world) {
			w.dispatcher("node")
			a := w.executor("a", time.Hour)
			time.Sleep(time.Second)
			tr := w.trigger("", change)
			time.Sleep(5 * time.Second)
			w.wantBegan("a job")
			if _, err := w.conn.Attempts().PutDeaths(w.t.Context(), tr, &bus.Deaths{Cancelled: "cancelled by ann"}, 0); err != nil {
				w.t.Fatal(err)
			}
			a.die()
			w.executor("b", time.Hour)
			time.Sleep(time.Minute)
			w.wantBegan("")
			told := w.told(tr)
			if last := told[len(told)-1]; tr.Delivery != job.AtMostOnce && last != "finished cancelled cancelled by ann" {
				w.t.Errorf("told: %q", told)
			}
			w.wantTriggers(0)
		})
	}
}
