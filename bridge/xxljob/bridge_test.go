package xxljob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
)

// handlers are those of most tests.
var handlers = map[string]xxlstandin.Handler{
	"ok": func(context.Context, xxlstandin.Run, func(string)) (string, error) { return "", nil },
	"echo": func(_ context.Context, r xxlstandin.Run, log func(string)) (string, error) {
		log(r.Params)
		return r.Params, nil
	},
	"fail": func(context.Context, xxlstandin.Run, func(string)) (string, error) {
		return "", errors.New("磁盘已满")
	},
	"hang": func(ctx context.Context, _ xxlstandin.Run, _ func(string)) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	},
	"wait": func(ctx context.Context, _ xxlstandin.Run, log func(string)) (string, error) {
		log("waiting")
		timer := time.NewTimer(time.Minute)
		defer timer.Stop()
		select {
		case <-timer.C:
			return "waited", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	},
}

func handler(name string) job.Task { return job.Task{Handler: name} }

func TestAnExecutorOfXXLJOBDoesRuns(t *testing.T) {
	for _, dialect := range []string{xxlstandin.A, xxlstandin.B, xxlstandin.C} {
		t.Run(dialect, func(t *testing.T) {
			run(t, func(w *world) {
				w.startBridge("one")
				e := w.startExecutor("10.0.0.1:9999", handlers, func(c *xxlstandin.Config) { c.Dialect = dialect })
				w.online(1)
				if n := e.UnknownLogs(); n != 0 { // some executors log a stack trace then
					w.Errorf("asked %d times for the log of a run that there is not", n)
				}
				echo := w.save("billing-app/echo", handler("echo"))
				id := w.begin(echo, `"你好"`)
				end := w.wantEnd(id, 10*time.Second, job.StatusSucceeded, "")
				if string(end.Result) != `"你好"` || end.Instance != "10-0-0-1-9999" {
					w.Errorf("ended as %+v", end)
				}
				if d := cmp.Diff([]string{"----------- job execute start -----------", "你好"}, w.log(id)); d != "" {
					w.Error(d)
				}
				w.wantEnd(w.begin(w.save("billing-app/fail", handler("fail"))), 10*time.Second, job.StatusFailed, "磁盘已满")
				w.wantEnd(w.begin(w.save("billing-app/nobody", handler("nobody"))), 10*time.Second, job.StatusFailed, "job handler [nobody] not found.")
				if taken := e.Taken(); taken[0].Total != 1 || taken[0].JobID == 0 || taken[0].Glue != "BEAN" || taken[0].Block != "SERIAL_EXECUTION" {
					w.Errorf("asked for %+v", taken[0])
				}
				if n := w.triggers(); n != 0 {
					w.Errorf("%d triggers are left", n)
				}
				w.until("the dialect is shown", time.Minute, func() bool {
					i, err := w.conn.Instances().List(w.ctx)
					return err == nil && len(i) == 1 && i[0].SDK == "xxl-job/"+dialect
				})
				i, err := w.conn.Instances().List(w.ctx)
				w.check(err)
				if len(i) != 1 || i[0].SDK != "xxl-job/"+dialect || i[0].Version == "" || i[0].Host != "10.0.0.1:9999" {
					w.Errorf("shown as %+v", i)
				}
			})
		})
	}
}

// While one end is on its way, those that come meanwhile wait, and go in one message. No trigger is
// acknowledged before its end is known to be stored.
func TestRunsThatEndTogetherAreReportedTogether(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		end := make(chan struct{})
		w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"together": func(context.Context, xxlstandin.Run, func(string)) (string, error) {
			<-end
			return "", nil
		}})
		w.online(1)
		var ids []job.RunID
		for n := range 20 {
			ids = append(ids, w.begin(w.save(fmt.Sprintf("billing-app/together-%d", n), handler("together"))))
		}
		time.Sleep(10 * time.Second)
		w.broker.LoseEventAcks("one")
		close(end)
		time.Sleep(10 * time.Second)
		if n := w.triggers(); n != len(ids) {
			w.Errorf("%d triggers are left before an end is known to be stored; want %d", n, len(ids))
		}
		w.broker.Heal("one")
		for _, id := range ids {
			w.wantEnd(id, time.Minute, job.StatusSucceeded, "")
		}
		time.Sleep(10 * time.Second)
		if w.packs != 1 || w.triggers() != 0 {
			w.Errorf("there are %d packs, and %d triggers are left; want one and none", w.packs, w.triggers())
		}
	})
}

func TestABridgePullsFromAllPartitions(t *testing.T) {
	runOn(t, bustest.NewBroker, 3, func(w *world) {
		one := w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		everywhere := func() {
			t.Helper()
			found := map[int]bool{}
			for i := 0; len(found) < 4; i++ {
				name := job.Name(fmt.Sprintf("billing-app/j%d", i))
				if shard := name.Shard(4); !found[shard] {
					found[shard] = true
					id := w.begin(w.save(string(name), handler("echo")), `"x"`)
					w.wantEnd(id, 10*time.Second, job.StatusSucceeded, "")
				}
			}
		}
		everywhere()
		one.kill()
		w.startBridge("two") // which serves the executor from now on
		time.Sleep(2 * time.Minute)
		everywhere()
	})
}

func TestATriggerOfALaterVersionIsLeftToOthers(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		_, err := w.conn.JS.PublishMsg(w.ctx, bus.NewMessage(bus.SubjectTrigger(1, "billing-app"), "trigger.v2", []byte(`{"v2":true}`)))
		w.check(err)
		time.Sleep(time.Minute)
		if n := w.triggers(); n != 1 {
			w.Errorf("%d triggers are left, want 1", n)
		}
		w.wantEnd(w.begin(w.save("billing-app/echo", handler("echo"))), 10*time.Second, job.StatusSucceeded, "")
	})
}

func TestARunEndsAfterItsTimeout(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		name := w.save("billing-app/hang", handler("hang"), func(j *job.Job) { j.Timeout = job.Duration(2500 * time.Millisecond) })
		end := w.wantEnd(w.begin(name), 10*time.Second, job.StatusTimedOut, "took longer than its timeout of 2.5s")
		if took := end.FinishedAt.Sub(end.StartedAt); took < 2500*time.Millisecond || took > 4*time.Second {
			w.Errorf("it took %s", took)
		}
		if asked := e.Taken()[0].Timeout; asked != 3 {
			w.Errorf("the executor was told a timeout of %d s, want 3", asked)
		}
	})
}

// Some executors, such as pyxxl, never report a run that is killed while they report that its time is over.
func TestARunWhoseExecutorEndsItInTimeIsNotKilled(t *testing.T) {
	run(t, func(w *world) {
		var kills atomic.Int32
		w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", handlers, func(c *xxlstandin.Config) {
			c.Answer = func(_ http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path == "/kill" {
					kills.Add(1)
				}
				return false
			}
		})
		w.online(1)
		for _, timeout := range []time.Duration{3 * time.Second, 2500 * time.Millisecond} {
			name := w.save(fmt.Sprintf("billing-app/hang-%d", timeout.Milliseconds()), handler("hang"), func(j *job.Job) { j.Timeout = job.Duration(timeout) })
			w.wantEnd(w.begin(name), 10*time.Second, job.StatusTimedOut, "took longer than its timeout")
		}
		time.Sleep(time.Minute)
		if n := kills.Load(); n != 0 {
			w.Errorf("the executor was told %d times to end runs that it had ended", n)
		}
	})
}

func TestARunThatItsExecutorDoesNotTimeIsKilledASecondLater(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", handlers, func(c *xxlstandin.Config) { c.Lenient = true })
		w.online(1)
		name := w.save("billing-app/hang", handler("hang"), func(j *job.Job) { j.Timeout = job.Duration(3 * time.Second) })
		end := w.wantEnd(w.begin(name), 10*time.Second, job.StatusTimedOut, "took longer than its timeout of 3s")
		if took := end.FinishedAt.Sub(end.StartedAt); took < 4*time.Second || took > 4500*time.Millisecond {
			w.Errorf("it took %s", took)
		}
	})
}

func TestARunIsKilledAndNoOtherOfItsExecutor(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		hang := w.save("billing-app/hang", handler("hang"))
		wait := w.save("billing-app/wait", handler("wait"))
		killed, other := w.begin(hang), w.begin(wait)
		w.until("both are begun", 10*time.Second, func() bool { return w.started(killed) && w.started(other) })
		w.cancel(hang, killed)
		w.wantEnd(killed, 15*time.Second, job.StatusCancelled, "the run was cancelled by ann")
		w.wantEnd(other, 2*time.Minute, job.StatusSucceeded, "")
	})
}

func TestARunWhoseExecutorIgnoresTheKillEndsAllTheSame(t *testing.T) {
	run(t, func(w *world) {
		release := make(chan struct{})
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{
			"stubborn": func(context.Context, xxlstandin.Run, func(string)) (string, error) { <-release; return "", nil },
		})
		w.online(1)
		name := w.save("billing-app/stubborn", handler("stubborn"))
		id := w.begin(name)
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		w.cancel(name, id)
		w.wantEnd(id, 20*time.Second, job.StatusCancelled, "did not end it in time")
		// The next one does not queue behind it, where a kill would end both.
		next := w.begin(name)
		time.Sleep(30 * time.Second)
		if n := len(e.Taken()); n != 1 {
			w.Errorf("the executor has %d runs of the job", n)
		}
		close(release)
		w.wantEnd(next, time.Minute, job.StatusSucceeded, "")
		if n := len(w.endsOf(id)); n != 1 {
			w.Errorf("the run that was killed has %d ends: its late word must not count", n)
		}
	})
}

func TestAnExecutorHasOneRunOfAJobAtATime(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		name := w.save("billing-app/wait", handler("wait"))
		first, second := w.begin(name), w.begin(name)
		time.Sleep(30 * time.Second)
		if n := len(e.Taken()); n != 1 {
			w.Errorf("the executor was asked for %d runs", n)
		}
		w.wantEnd(first, 5*time.Minute, job.StatusSucceeded, "")
		w.wantEnd(second, 5*time.Minute, job.StatusSucceeded, "")
	})
}

func TestABroadcastHasAPieceForEachExecutor(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		var all []*executor
		for _, address := range []string{"10.0.0.1:9999", "10.0.0.2:9999", "10.0.0.3:9999"} {
			all = append(all, w.startExecutor(address, handlers))
		}
		w.online(3)
		name := w.save("billing-app/each", handler("ok"), func(j *job.Job) { j.Route = job.RouteBroadcast })
		id := w.begin(name)
		w.until("all pieces end", time.Minute, func() bool { return len(w.endsOf(id)) == 3 })
		seen := map[int]bool{}
		for _, e := range all {
			if len(e.Taken()) != 1 {
				w.Fatalf("%s has %d pieces", e.address, len(e.Taken()))
			}
			r := e.Taken()[0]
			seen[r.Index] = true
			if r.Total != 3 {
				w.Errorf("piece %d of %d", r.Index, r.Total)
			}
		}
		if len(seen) != 3 {
			w.Errorf("pieces %v", seen)
		}
	})
}

func TestEveryRouteReachesExecutors(t *testing.T) {
	for _, route := range job.Routes {
		if route == job.RouteBroadcast {
			continue
		}
		t.Run(string(route), func(t *testing.T) {
			run(t, func(w *world) {
				w.startBridge("one")
				w.startExecutor("10.0.0.1:9999", handlers)
				w.startExecutor("10.0.0.2:9999", handlers)
				w.online(2)
				name := w.save("billing-app/routed", handler("ok"), func(j *job.Job) { j.Route = route })
				for range 3 {
					w.wantEnd(w.begin(name), 30*time.Second, job.StatusSucceeded, "")
				}
			})
		})
	}
}

func TestAFailedRunIsTriedAgain(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		name := w.save("billing-app/fail", handler("fail"), func(j *job.Job) {
			j.Retry = job.Retry{Limit: 2, On: []job.Status{job.StatusFailed}, Backoff: job.BackoffConstant, Delay: job.Duration(time.Second)}
		})
		id := w.begin(name)
		w.until("three attempts end", time.Minute, func() bool { return len(w.endsOf(id)) == 3 })
		for k, end := range w.endsOf(id) {
			if end.Attempt != k+1 || end.Retry != (k < 2) {
				w.Errorf("attempt %d, another follows: %v", end.Attempt, end.Retry)
			}
		}
		if n := len(e.Begun()); n != 3 {
			w.Errorf("%d runs with numbers of their own", n)
		}
	})
}

func TestAnExecutorThatLeavesOrFallsSilentIsGone(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		other := w.startExecutor("10.0.0.2:9999", handlers)
		w.online(2)
		w.check(e.Leave(w.ctx))
		time.Sleep(5 * time.Second)
		w.online(1)
		other.kill()
		w.until("the killed one is gone", 100*time.Second, func() bool { return len(w.instances()) == 0 })
		// It is there again as soon as it registers.
		w.startExecutor("10.0.0.2:9999", handlers)
		w.online(1)
	})
}

func TestGlueScriptsAreSentWithEachRun(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"*": handlers["ok"]})
		w.online(1)
		save := func(source string) job.Name {
			return w.save("billing-app/script", job.Task{Script: &job.Script{Language: "python", Source: source}})
		}
		name := save("print(1)")
		w.wantEnd(w.begin(name), 10*time.Second, job.StatusSucceeded, "")
		w.wantEnd(w.begin(name), 10*time.Second, job.StatusSucceeded, "")
		save("print(2)")
		w.wantEnd(w.begin(name), 10*time.Second, job.StatusSucceeded, "")
		r := e.Taken()
		if r[0].Glue != "GLUE_PYTHON" || r[0].Source != "print(1)" || r[2].Source != "print(2)" {
			w.Errorf("asked for %+v", r)
		}
		if r[0].Updated != r[1].Updated || r[1].Updated == r[2].Updated || r[0].Updated <= 0 {
			w.Errorf("the source changed at %d, %d, %d", r[0].Updated, r[1].Updated, r[2].Updated)
		}
		w.wantEnd(w.begin(w.save("billing-app/star", job.Task{Script: &job.Script{Language: "starlark", Source: "x = 1"}})), 10*time.Second,
			job.StatusFailed, "executors of XXL-JOB run no scripts in starlark")
	})
}

func TestAnImportedJobKeepsItsNumber(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		imported := job.Job{Job: "billing-app/imported", Task: handler("ok")}
		entry, _, err := w.conn.Jobs().Put(w.ctx, imported, cluster.Edit{At: time.Now(), Author: "test", Note: "XXL-JOB 4711"})
		w.check(err)
		w.saved = entry.Revision
		w.wantEnd(w.begin(imported.Job), 10*time.Second, job.StatusSucceeded, "")
		w.save("billing-app/imported", handler("echo")) // an edit, with another note
		w.wantEnd(w.begin(imported.Job), 10*time.Second, job.StatusSucceeded, "")
		w.wantEnd(w.begin(w.save("billing-app/new", handler("ok"))), 10*time.Second, job.StatusSucceeded, "")
		var ids []int32
		for _, r := range e.Taken() {
			ids = append(ids, r.JobID)
		}
		if d := cmp.Diff([]int32{4711, 4711, 1_000_000}, ids); d != "" {
			w.Error(d)
		}
	})
}

// An executor of XXL-JOB has a thread for each number, and ends it when it comes with another handler.
func TestStepsOfOneJobHaveNumbersOfTheirOwn(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		workflow := job.NewRunID(time.Now())
		for _, step := range []string{"load", "clean", "load"} {
			tr := &bus.Trigger{
				RunID: job.NewRunID(time.Now()), Job: "billing-app/flow", Version: 1, Shard: job.Name("billing-app/flow").Shard(w.conn.Cluster().Shards), Attempt: 1,
				Cause: job.CauseStep, FireTime: time.Now(), CommittedAt: time.Now(), ParentRun: workflow, Step: step,
			}
			body, err := bus.TriggerBody{Task: handler("ok")}.Encode()
			w.check(err)
			m := bus.NewMessage(bus.SubjectTrigger(tr.Shard, "billing-app"), bus.MessageTrigger, bus.AppendTrigger(nil, tr, body))
			m.Header.Set(bus.HeaderToken, w.conn.Tokens().Trigger(tr, false, time.Now()))
			_, err = w.conn.JS.PublishMsg(w.ctx, m)
			w.check(err)
			w.wantEnd(tr.RunID, 10*time.Second, job.StatusSucceeded, "")
		}
		if r := e.Taken(); len(r) != 3 || r[0].JobID == r[1].JobID || r[0].JobID != r[2].JobID {
			w.Errorf("taken: %+v", r)
		}
	})
}

// XXL-JOB's admin seldom calls /beat, so executors that have none, or refuse its body, work there.
func TestAnExecutorAttachesWhateverItAnswersToABeat(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"takes objects only": func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); string(body) != "{}" {
				w.WriteHeader(http.StatusBadRequest)
			}
		},
		"HTTP 404": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"HTTP 500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"no callback": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"code":500,"msg":"XXL-JOB beat callback is not configured"}`)
		},
		"HTML":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `<html>Not Found</html>`) },
		"nothing": func(http.ResponseWriter, *http.Request) {},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w *world) {
				w.startBridge("one")
				w.startExecutor("10.0.0.1:9999", handlers, func(c *xxlstandin.Config) {
					c.Answer = func(w http.ResponseWriter, r *http.Request) bool {
						if r.URL.Path == "/beat" {
							answer(w, r)
						}
						return r.URL.Path == "/beat"
					}
				})
				w.online(1)
				w.wantEnd(w.begin(w.save("billing-app/ok", handler("ok"))), 10*time.Second, job.StatusSucceeded, "")
				time.Sleep(2 * time.Minute)
				w.online(1)
			})
		})
	}
}

func TestAnExecutorThatRefusesTheTokenOrIsAwayDoesNotAttach(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter){
		"the access token is wrong": func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"code":500,"msg":"The access token is wrong."}`)
		},
		"HTTP status 401": func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) },
		"HTTP status 502": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(w *world) {
				w.startBridge("one")
				e := w.startExecutor("10.0.0.1:9999", handlers, func(c *xxlstandin.Config) {
					c.Answer = func(w http.ResponseWriter, _ *http.Request) bool { answer(w); return true }
				})
				time.Sleep(time.Minute)
				if n := len(w.instances()); n != 0 || len(e.Taken()) != 0 {
					w.Errorf("%d are online", n)
				}
			})
		})
	}
}
