package xxljob_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
)

// adoptionWorld has two bridges and four executors. Each bridge serves some of them.
func adoptionWorld(t *testing.T, f func(w *world, one, two *bridge, all []*executor)) {
	t.Helper()
	run(t, func(w *world) {
		one, two := w.startBridge("one"), w.startBridge("two")
		var all []*executor
		for _, address := range []string{"10.0.0.1:9999", "10.0.0.2:9999", "10.0.0.3:9999", "10.0.0.4:9999"} {
			all = append(all, w.startExecutor(address, handlers))
		}
		w.online(4)
		f(w, one, two, all)
	})
}

// begunOnce wants each run of all executors to have begun once.
func (w *world) begunOnce(all []*executor, runs int) {
	w.Helper()
	n := 0
	for _, e := range all {
		for id, times := range e.Begun() {
			if n++; times != 1 {
				w.Errorf("run %d of %s has begun %d times", id, e.address, times)
			}
		}
	}
	if n != runs {
		w.Errorf("%d runs have begun at the executors, want %d", n, runs)
	}
}

func TestAnotherBridgeGoesOnWithTheRunsOfOneThatWasKilled(t *testing.T) {
	for _, delivery := range []job.Delivery{job.AtLeastOnce, job.AtMostOnce} {
		t.Run(string(delivery), func(t *testing.T) {
			adoptionWorld(t, func(w *world, one, two *bridge, all []*executor) {
				before := w.instances()
				var ids []job.RunID
				for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
					ids = append(ids, w.begin(w.save("billing-app/"+name, handler("wait"), func(j *job.Job) { j.Delivery = delivery })))
				}
				w.until("all are begun", 15*time.Second, func() bool {
					return !slices.ContainsFunc(ids, func(id job.RunID) bool { return !w.started(id) })
				})
				one.kill()
				time.Sleep(20 * time.Second)
				if after := w.instances(); !slices.Equal(before, after) {
					w.Errorf("instances were %v and are %v", before, after)
				}
				for _, id := range ids {
					end := w.wantEnd(id, 2*time.Minute, job.StatusSucceeded, "")
					if string(end.Result) != `"waited"` {
						w.Errorf("result %s", end.Result)
					}
					if log := w.log(id); !slices.Contains(log, "waiting") {
						w.Errorf("log %q", log)
					}
				}
				time.Sleep(time.Minute)
				w.begunOnce(all, len(ids))
				for _, id := range ids {
					if n := len(w.endsOf(id)); n != 1 {
						w.Errorf("run %s has %d ends", id, n)
					}
				}
				if n := w.triggers(); n != 0 {
					w.Errorf("%d triggers are left", n)
				}
				_ = two
			})
		})
	}
}

func TestABridgeThatIsAloneGoesOnAfterItsRestart(t *testing.T) {
	run(t, func(w *world) {
		one := w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		id := w.begin(w.save("billing-app/wait", handler("wait")))
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		one.kill()
		time.Sleep(2 * time.Second)
		w.startBridge("one")
		w.wantEnd(id, 2*time.Minute, job.StatusSucceeded, "")
		w.begunOnce([]*executor{e}, 1)
	})
}

func TestCallbacksThatComeWhileNobodyServesAreNotLost(t *testing.T) {
	run(t, func(w *world) {
		one := w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		id := w.begin(w.save("billing-app/wait", handler("wait")))
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		one.kill()
		time.Sleep(5 * time.Minute) // the run ends meanwhile, and its executor repeats the callback
		if n := len(w.endsOf(id)); n != 0 {
			w.Fatalf("ended %d times while no bridge is there", n)
		}
		w.startBridge("one")
		w.wantEnd(id, 2*time.Minute, job.StatusSucceeded, "")
		w.begunOnce([]*executor{e}, 1)
	})
}

func TestRunsSurviveARestartOfNATS(t *testing.T) {
	adoptionWorld(t, func(w *world, _, _ *bridge, all []*executor) {
		var ids []job.RunID
		for _, name := range []string{"a", "b", "c", "d"} {
			ids = append(ids, w.begin(w.save("billing-app/"+name, handler("wait"), func(j *job.Job) { j.Delivery = job.AtMostOnce })))
		}
		w.until("all are begun", 15*time.Second, func() bool { return w.started(ids[0]) && w.started(ids[3]) })
		w.broker.Stop()
		time.Sleep(2 * time.Minute) // longer than everything but the retries of callbacks
		w.broker.Start()
		for _, id := range ids {
			w.wantEnd(id, 2*time.Minute, job.StatusSucceeded, "")
		}
		w.begunOnce(all, len(ids))
	})
}

// stored returns how many runs bridges have stored.
func (w *world) stored() int {
	stream, err := w.conn.JS.Stream(w.ctx, "KV_XXLJOB")
	w.check(err)
	info, err := stream.Info(w.ctx, jetstream.WithSubjectFilter("$KV.XXLJOB.*.run.>"))
	w.check(err)
	return len(info.State.Subjects)
}

func TestARunThatItsExecutorHasNeverSeenIsDoneAfterAll(t *testing.T) {
	for _, delivery := range []job.Delivery{job.AtLeastOnce, job.AtMostOnce} {
		t.Run(string(delivery), func(t *testing.T) {
			run(t, func(w *world) {
				one := w.startBridge("one")
				var deaf atomic.Bool
				e := w.startExecutor("10.0.0.1:9999", handlers)
				w.online(1)
				w.net.filter(e.address, deaf.Load)
				name := w.save("billing-app/ok", handler("ok"), func(j *job.Job) { j.Delivery = delivery })
				deaf.Store(true)
				id := w.begin(name)
				w.until("the run is stored", 30*time.Second, func() bool { return w.stored() == 1 })
				time.Sleep(time.Second) // the call for the run is on its way, and never arrives
				one.kill()
				time.Sleep(time.Second) // its connection closes: nothing of it may arrive now
				deaf.Store(false)
				w.startBridge("two")
				if delivery == job.AtMostOnce {
					w.wantEnd(id, 2*time.Minute, job.StatusLost, "began this attempt and went silent")
					w.begunOnce([]*executor{e}, 0)
					return
				}
				w.wantEnd(id, 2*time.Minute, job.StatusSucceeded, "")
				w.begunOnce([]*executor{e}, 1)
			})
		})
	}
}

func TestAnExecutorThatForgetsARunHasItEndByItsPolicy(t *testing.T) {
	for _, delivery := range []job.Delivery{job.AtLeastOnce, job.AtMostOnce} {
		t.Run(string(delivery), func(t *testing.T) {
			run(t, func(w *world) {
				w.startBridge("one")
				e := w.startExecutor("10.0.0.1:9999", handlers)
				w.online(1)
				id := w.begin(w.save("billing-app/wait", handler("wait"), func(j *job.Job) { j.Delivery = delivery }))
				w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
				e.kill()
				again := w.startExecutor("10.0.0.1:9999", handlers) // within a moment, so that no beat fails
				if delivery == job.AtMostOnce {
					w.wantEnd(id, 3*time.Minute, job.StatusLost, "did not report its end within 1m30s")
					w.begunOnce([]*executor{again}, 0)
					return
				}
				w.wantEnd(id, 5*time.Minute, job.StatusSucceeded, "")
				w.begunOnce([]*executor{again}, 1)
			})
		})
	}
}

func TestAKilledExecutorsRunsAreDoneElsewhere(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		first := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		id := w.begin(w.save("billing-app/wait", handler("wait")))
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		other := w.startExecutor("10.0.0.2:9999", handlers)
		w.online(2)
		first.kill()
		w.wantEnd(id, 3*time.Minute, job.StatusSucceeded, "")
		w.begunOnce([]*executor{other}, 1)
	})
}

func TestCallbacksMayComeTwiceLateOrForNobody(t *testing.T) {
	run(t, func(w *world) {
		one := w.startBridge("one")
		release := make(chan struct{})
		e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{
			"ok": handlers["ok"],
			"late": func(context.Context, xxlstandin.Run, func(string)) (string, error) {
				<-release
				return "late", nil
			},
		})
		w.online(1)
		anybody := func(string) bool { return true }
		id := w.begin(w.save("billing-app/ok", handler("ok")))
		w.wantEnd(id, 10*time.Second, job.StatusSucceeded, "")
		done := wire.Callback{LogID: e.Taken()[0].LogID, Code: 500, Msg: "says something else the second time"}
		w.check(one.Callback(w.ctx, done, anybody))
		for _, unknown := range []int64{-1, 0, 7, 1 << 62, done.LogID + 1} {
			w.check(one.Callback(w.ctx, wire.Callback{LogID: unknown, Code: 200}, anybody))
		}
		time.Sleep(time.Second)
		if n := len(w.endsOf(id)); n != 1 {
			w.Errorf("%d ends", n)
		}

		name := w.save("billing-app/late", handler("late"))
		late := w.begin(name)
		w.until("it is begun", 10*time.Second, func() bool { return w.started(late) })
		w.cancel(name, late)
		w.wantEnd(late, 30*time.Second, job.StatusCancelled, "did not end it in time")
		close(release)
		time.Sleep(time.Minute)
		if n := len(w.endsOf(late)); n != 1 {
			w.Errorf("the run that was cancelled has %d ends", n)
		}

		// Of another group: its token must not end it.
		w.check(one.Callback(w.ctx, wire.Callback{LogID: done.LogID, Code: 200}, func(string) bool { return false }))
	})
}

func TestACallbackIsRefusedWhileItCannotBeStored(t *testing.T) {
	run(t, func(w *world) {
		one := w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		id := w.begin(w.save("billing-app/hang", handler("hang")))
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		w.broker.Stop()
		c := wire.Callback{LogID: e.Taken()[0].LogID, Code: 200}
		if err := one.Callback(w.ctx, c, func(string) bool { return true }); err == nil {
			w.Error("a callback is answered with success, though its end is not stored")
		}
		w.broker.Start()
		w.until("it is taken", 30*time.Second, func() bool { return one.Callback(w.ctx, c, func(string) bool { return true }) == nil })
		w.wantEnd(id, time.Minute, job.StatusSucceeded, "")
	})
}

func TestARunIsNotBegunAgainWhenTheAnswerIsLost(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers, func(c *xxlstandin.Config) {
			c.Slow = func(path string) time.Duration {
				if path == "/run" {
					return 10 * time.Second // the bridge waits for 3
				}
				return 0
			}
		})
		w.online(1)
		for _, name := range []string{"wait", "ok"} {
			end := w.wantEnd(w.begin(w.save("billing-app/"+name, handler(name))), 3*time.Minute, job.StatusSucceeded, "")
			if end.Attempt != 1 || end.Delivery != 1 {
				w.Errorf("%s: attempt %d, delivery %d", name, end.Attempt, end.Delivery)
			}
		}
		w.begunOnce([]*executor{e}, 2)
	})
}

func TestRunsGoOnThoughTheirExecutorCannotRegister(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"long": func(ctx context.Context, _ xxlstandin.Run, _ func(string)) (string, error) {
			timer := time.NewTimer(5 * time.Minute)
			defer timer.Stop()
			select {
			case <-timer.C:
				return "", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}}, func(c *xxlstandin.Config) { c.RegisterEvery = time.Hour })
		w.online(1)
		id := w.begin(w.save("billing-app/long", handler("long")))
		w.wantEnd(id, 6*time.Minute, job.StatusSucceeded, "")
		w.begunOnce([]*executor{e}, 1)
		w.until("it has left", time.Minute, func() bool { return len(w.instances()) == 0 })
	})
}

func TestRunsThatWaitForAnExecutorBeginOnce(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		var ids []job.RunID
		for n := range 30 { // which are offered as soon as the first heartbeat is stored
			name := w.save(fmt.Sprintf("billing-app/wait-%d", n), handler("wait"), func(j *job.Job) { j.Route, j.Delivery = job.RouteFirst, job.AtMostOnce })
			ids = append(ids, w.begin(name))
		}
		time.Sleep(10 * time.Second)
		e := w.startExecutor("10.0.0.1:9999", handlers)
		for _, id := range ids {
			w.wantEnd(id, 5*time.Minute, job.StatusSucceeded, "")
		}
		time.Sleep(time.Minute)
		w.begunOnce([]*executor{e}, len(ids))
	})
}

// smallMessages is a NATS that takes no end with a large result.
func smallMessages(tb testing.TB) *bustest.Broker {
	tb.Helper()
	return bustest.NewBrokerWith(tb, "max_payload: 8MB", "max_payload: 32KB")
}

func TestAnEndThatIsTooLargeForNATSIsStoredWithoutItsResult(t *testing.T) {
	large := strings.Repeat("x", 40_000)
	t.Run("by the bridge that has the run", func(t *testing.T) {
		runOn(t, smallMessages, 1, func(w *world) {
			w.startBridge("one")
			e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{
				"large": func(_ context.Context, _ xxlstandin.Run, log func(string)) (string, error) {
					for range 300 {
						log(strings.Repeat("y", 200))
					}
					return large, nil
				},
			})
			w.online(1)
			id := w.begin(w.save("billing-app/large", handler("large")))
			end := w.wantEnd(id, time.Minute, job.StatusSucceeded, "max_payload of NATS")
			if n := len(w.log(id)); n != 301 { // with one that the executor begins with
				w.Errorf("its log has %d lines", n)
			}
			if len(end.Result) > 0 {
				w.Errorf("its result has %d bytes", len(end.Result))
			}
			w.begunOnce([]*executor{e}, 1)
			if n := w.triggers(); n != 0 {
				w.Errorf("%d triggers are left", n)
			}
		})
	})
	t.Run("by another one, to which it cannot be passed", func(t *testing.T) {
		runOn(t, smallMessages, 1, func(w *world) {
			w.startBridge("one")
			over := make(chan struct{})
			e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{
				"mute": func(ctx context.Context, _ xxlstandin.Run, log func(string)) (string, error) {
					<-over
					log("over")
					<-ctx.Done()
					return "", ctx.Err()
				},
			})
			w.online(1)
			id := w.begin(w.save("billing-app/mute", handler("mute")))
			w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
			two := w.startBridge("two")
			time.Sleep(13 * time.Second) // it hears of the instance; and the other one has just read the log
			close(over)
			w.check(two.Callback(w.ctx, wire.Callback{LogID: e.Taken()[0].LogID, Code: 200, Msg: large}, func(string) bool { return true }))
			w.wantEnd(id, time.Second, job.StatusSucceeded, "max_payload of NATS")
			w.until("the trigger is acknowledged", 10*time.Second, func() bool { return w.triggers() == 0 })
			if log := w.log(id); !slices.Contains(log, "over") {
				w.Errorf("log %q", log)
			}
		})
	})
	t.Run("by one that finds the other dead", func(t *testing.T) {
		runOn(t, smallMessages, 1, func(w *world) {
			one := w.startBridge("one")
			e := w.startExecutor("10.0.0.1:9999", handlers)
			w.online(1)
			id := w.begin(w.save("billing-app/hang", handler("hang")))
			w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
			two := w.startBridge("two")
			time.Sleep(5 * time.Second) // it hears of the instance
			one.kill()
			w.check(two.Callback(w.ctx, wire.Callback{LogID: e.Taken()[0].LogID, Code: 200, Msg: large}, func(string) bool { return true }))
			w.wantEnd(id, time.Second, job.StatusSucceeded, "max_payload of NATS")
		})
	})
}
