package xxljob_test

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
)

// answers replaces an executor's answer to a path by a fixed body. The request has no effect.
func answers(path, body string) func(*xxlstandin.Config) {
	return func(c *xxlstandin.Config) {
		before := c.Answer
		c.Answer = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == path {
				_, _ = io.WriteString(w, body)
				return true
			}
			return before != nil && before(w, r)
		}
	}
}

// mute is an executor that never reports the end of a run.
func mute() func(*xxlstandin.Config) {
	return func(c *xxlstandin.Config) { c.Admins = []string{"http://mute:8080"} }
}

// keepRegistered registers an executor that reaches no bridge.
func (w *world) keepRegistered(b *bridge, address string) {
	ctx, stop := context.WithCancel(w.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(20 * time.Second)
		defer tick.Stop()
		for ctx.Err() == nil {
			_ = b.Register(ctx, wire.Registration{Group: "EXECUTOR", AppName: "billingApp", Address: "http://" + address}, "") // a later one makes up for it
			select {
			case <-tick.C:
			case <-ctx.Done():
			case <-b.done:
				return
			}
		}
	}()
	w.Cleanup(func() { stop(); <-done })
}

// wantBegins wants a run to have begun so often, each time for a reason.
func (w *world) wantBegins(id job.RunID, why ...string) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var got []string
	for _, e := range w.begins {
		if e.RunID == id {
			got = append(got, e.RouteReason)
		}
	}
	if d := cmp.Diff(why, got); d != "" {
		w.Error(d)
	}
}

func TestAnExecutorThatLivesAndCannotReportGetsARunTwice(t *testing.T) {
	run(t, func(w *world) {
		one := w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"work": brief(3 * time.Second)}, mute())
		w.keepRegistered(one, e.address)
		w.online(1)
		name := w.save("billing-app/work", handler("work"))
		id := w.begin(name)
		w.wantEnd(id, 10*time.Minute, job.StatusLost, "executor 10-0-0-1-9999 lives, but has no such run any more, and did not report its end within 1m30s; it was begun again 1 time already")
		if n := len(e.Taken()); n != 2 {
			w.Errorf("the executor was called %d times", n)
		}
		w.wantBegins(id, "", "executor 10-0-0-1-9999 lives, but has no such run any more, and did not report its end within 1m30s; it is begun again")
		stream, err := w.conn.JS.Stream(w.ctx, "KV_XXLJOB")
		w.check(err)
		info, err := stream.Info(w.ctx, jetstream.WithSubjectFilter("$KV.XXLJOB.billing-app.forgotten.*"))
		w.check(err)
		if n := len(info.State.Subjects); n != 1 { // where the group's credential may write
			w.Errorf("the count is at %d keys of the group", n)
		}
		next := w.begin(name) // the job is not blocked
		w.until("the next run is begun", 10*time.Second, func() bool { return w.started(next) })
	})
}

// The bound holds also if each time another bridge begins the run.
func TestTheBoundOfARunThatIsForgottenSurvivesItsBridge(t *testing.T) {
	run(t, func(w *world) {
		one := w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"work": brief(3 * time.Second)}, mute())
		w.keepRegistered(one, e.address)
		w.online(1)
		id := w.begin(w.save("billing-app/work", handler("work")))
		w.until("it is begun again", 5*time.Minute, func() bool { return len(e.Taken()) == 2 })
		two := w.startBridge("two")
		w.keepRegistered(two, e.address)
		one.kill()
		w.wantEnd(id, 10*time.Minute, job.StatusLost, "it was begun again 1 time already")
		if n := len(e.Taken()); n != 2 {
			w.Errorf("the executor was called %d times", n)
		}
	})
}

// It accepts what it has no handler for, and never says of a job that it is busy.
func TestARunThatIsNeitherDeniedNorReportedIsLostInTheEnd(t *testing.T) {
	for name, idle := range map[string]string{"always idle": `{"code":200}`, "always busy": `{"code":500,"msg":"idleBeat callback is not configured"}`} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w *world) {
				one := w.startBridge("one")
				e := w.startExecutor("10.0.0.1:9999", handlers, answers("/run", `{"code":200}`), answers("/idleBeat", idle))
				w.keepRegistered(one, e.address)
				w.online(1)
				save := w.save("billing-app/who", handler("who"), func(j *job.Job) { j.Timeout = job.Duration(20 * time.Minute) })
				id := w.begin(save)
				if name == "always busy" { // which nobody can tell from a long run
					w.wantEnd(id, 25*time.Minute, job.StatusTimedOut, "")
					return
				}
				w.wantEnd(id, 12*time.Minute, job.StatusLost, "neither reported the end of this run nor showed that it still has it")
			})
		})
	}
}

// XXL-JOB's admin seldom asks whether a job is idle, so some executors always say the same.
func TestALongRunGoesOnWhateverItsExecutorAlwaysSays(t *testing.T) {
	for name, idle := range map[string]string{"idle": `{"code":200}`, "busy": `{"code":500,"msg":"not configured"}`, "nothing": ``} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w *world) {
				w.startBridge("one")
				e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"long": brief(8 * time.Minute)}, answers("/idleBeat", idle))
				w.online(1)
				id := w.begin(w.save("billing-app/long", handler("long")))
				w.wantEnd(id, 9*time.Minute, job.StatusSucceeded, "")
				w.begunOnce([]*executor{e}, 1)
			})
		})
	}
}

func TestARunOfAnExecutorWithoutIdleBeatEndsWhenThatIsStartedAnew(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		config := answers("/idleBeat", `{"code":500,"msg":"XXL-JOB idleBeat callback is not configured"}`)
		e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"long": brief(time.Hour)}, config)
		w.online(1)
		name := w.save("billing-app/long", handler("long"))
		id := w.begin(name)
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		time.Sleep(7 * time.Second)
		e.kill()
		time.Sleep(2 * time.Second)
		again := w.startExecutor("10.0.0.1:9999", handlers, config) // which has no handler of the name
		w.wantEnd(id, 5*time.Minute, job.StatusFailed, "job handler [long] not found.")
		w.wantBegins(id, "", "executor 10-0-0-1-9999 restarted, and did not report the end of this run within 1m30s; it is begun again")
		if n := len(again.Taken()); n != 0 {
			w.Errorf("%d runs", n)
		}
		next := w.begin(name)
		w.wantEnd(next, 20*time.Second, job.StatusFailed, "not found")
	})
}

// Behind the address of a Kubernetes Service or a proxy, each call may reach another executor.
func TestARunAtOneOfManyExecutorsBehindAnAddressIsDoneOnce(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		var all []*executor
		for _, address := range []string{"10.0.0.1:9999", "10.0.0.2:9999", "10.0.0.3:9999", "10.0.0.4:9999", "10.0.0.5:9999", "10.0.0.6:9999", "10.0.0.7:9999", "10.0.0.8:9999"} {
			all = append(all, w.startExecutor(address, map[string]xxlstandin.Handler{"long": brief(400 * time.Second)}, func(c *xxlstandin.Config) { c.Address = "http://svc:9999" }))
		}
		var turn atomic.Int64
		balancer := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			n := 7 // most questions go to one that knows nothing
			if turn.Add(1)%16 == 0 || r.URL.Path == "/run" {
				n = 0
			}
			all[n].ServeHTTP(rw, r)
		})}
		l := w.net.listen("svc:9999")
		done := make(chan struct{})
		go func() { defer close(done); _ = balancer.Serve(l) }()
		w.Cleanup(func() { _ = balancer.Close(); w.net.cut("svc:9999"); <-done })
		w.online(1)
		id := w.begin(w.save("billing-app/long", handler("long")))
		w.wantEnd(id, 8*time.Minute, job.StatusSucceeded, "")
		w.begunOnce(all, 1)
	})
}

// brief is a handler that takes a while, whatever happens.
func brief(d time.Duration) xxlstandin.Handler {
	return func(ctx context.Context, _ xxlstandin.Run, _ func(string)) (string, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		return "", ctx.Err()
	}
}

// Handlers in Go can only return a text when they are killed, which is reported with code 200.
func TestARunThatIsEndedIsNoSuccessWhateverItsExecutorReports(t *testing.T) {
	killed := func(ctx context.Context, _ xxlstandin.Run, _ func(string)) (string, error) {
		<-ctx.Done()
		return "killed", nil
	}
	run(t, func(w *world) {
		w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"killed": killed, "ok": handlers["ok"]}, func(c *xxlstandin.Config) { c.Lenient = true })
		w.online(1)
		child := w.save("billing-app/child", handler("ok"))
		name := w.save("billing-app/parent", handler("killed"), func(j *job.Job) { j.Children = []job.Child{{Job: child}} })
		id := w.begin(name)
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		w.cancel(name, id)
		end := w.wantEnd(id, 20*time.Second, job.StatusCancelled, "cancelled by ann")
		late := w.begin(w.save("billing-app/late", handler("killed"), func(j *job.Job) { j.Timeout = job.Duration(3 * time.Second) }))
		slow := w.wantEnd(late, 30*time.Second, job.StatusTimedOut, "")
		if string(end.Result) != `"killed"` || string(slow.Result) != `"killed"` {
			w.Errorf("results %s and %s", end.Result, slow.Result)
		}
		time.Sleep(time.Minute)
		w.mu.Lock()
		defer w.mu.Unlock()
		for other := range w.ends {
			if other != id && other != late {
				w.Errorf("run %s of the child has ended", other)
			}
		}
	})
}

func TestARunThatKillsItsExecutorIsLostInTheEnd(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		address := "10.0.0.1:9999"
		taken := 0
		var e *executor
		begin := func() { e = w.startExecutor(address, map[string]xxlstandin.Handler{"fatal": brief(time.Hour)}) }
		begin()
		w.online(1)
		id := w.begin(w.save("billing-app/fatal", handler("fatal")))
		for begun := time.Now(); len(w.endsOf(id)) == 0 && time.Since(begun) < 30*time.Minute; time.Sleep(time.Second) {
			if len(e.Taken()) > 0 {
				taken++
				time.Sleep(2 * time.Second)
				e.kill()
				time.Sleep(time.Minute)
				begin()
			}
		}
		w.wantEnd(id, time.Minute, job.StatusLost, "its executor died 3 times while it ran this")
		if taken != 3 {
			w.Errorf("it was begun %d times", taken)
		}
	})
}
