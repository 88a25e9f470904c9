package xxljob_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/internal/xxlstandin"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

// The instances of most tests.
const (
	first  = "10-0-0-1-9999"
	second = "10-0-0-2-9999"
)

// tell sends a request to an instance, as the API does.
func (w *world) tell(instance, verb string, body any) (*fleet.InstanceReply, error) {
	w.Helper()
	beat, err := w.conn.Instances().Heartbeat(w.ctx, "billing-app", instance)
	w.check(err)
	data, err := json.Marshal(body)
	w.check(err)
	return w.conn.AskInstance(w.ctx, beat.Address(), verb, nil, data, 5*time.Second)
}

// mustTell sends a request to the first instance, and fails the test unless it is accepted.
func (w *world) mustTell(verb string, body any) *fleet.InstanceReply {
	w.Helper()
	reply, err := w.tell(first, verb, body)
	w.check(err)
	if reply.Answer != fleet.AnswerAccepted {
		w.Fatalf("%s is answered by %+v", verb, reply)
	}
	return reply
}

// shown returns what the first instance says of itself, the zero value if it is not there.
func (w *world) shown() fleet.Instance {
	w.Helper()
	all, err := w.conn.Instances().FleetNow(w.ctx)
	w.check(err)
	for _, i := range all.Instances {
		if i.Instance == first {
			return i
		}
	}
	return fleet.Instance{}
}

// succeed begins n runs of a job, one after the other, and wants all of them to succeed.
func (w *world) succeed(name job.Name, n int) {
	w.Helper()
	for range n {
		w.wantEnd(w.begin(name), 30*time.Second, job.StatusSucceeded, "")
	}
}

func TestACordonedExecutorTakesNoMoreRunsWhicheverBridgeServesIt(t *testing.T) {
	run(t, func(w *world) {
		one := w.startBridge("one")
		cordoned := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		before := w.begin(w.save("billing-app/wait", handler("wait")))
		w.until("it is begun", 10*time.Second, func() bool { return w.started(before) })
		w.startExecutor("10.0.0.2:9999", handlers)
		w.online(2)
		if reply := w.mustTell(bus.VerbCordon, struct{}{}); reply.State != fleet.InstanceCordoned || reply.Running != 1 {
			w.Errorf("answered by %+v", reply)
		}
		w.succeed(w.save("billing-app/any", handler("ok")), 3)
		ok := w.save("billing-app/ok", handler("ok"), func(j *job.Job) { j.Route = job.RouteFirst })
		w.succeed(ok, 3)
		w.startBridge("two")
		one.kill()
		w.until("another bridge serves both", time.Minute, func() bool {
			_, err := w.tell(first, bus.VerbBeat, struct{}{})
			_, other := w.tell(second, bus.VerbBeat, struct{}{})
			return err == nil && other == nil
		})
		w.succeed(ok, 3)
		w.wantEnd(before, 2*time.Minute, job.StatusSucceeded, "")
		if state := w.shown().State; state != fleet.InstanceCordoned || len(cordoned.Taken()) != 1 {
			w.Errorf("it is %s, and has taken %d runs", state, len(cordoned.Taken()))
		}
		if reply := w.mustTell(bus.VerbUncordon, struct{}{}); reply.State != fleet.InstanceOnline {
			w.Errorf("answered by %+v", reply)
		}
		w.until("it takes runs again", time.Minute, func() bool { w.succeed(ok, 1); return len(cordoned.Taken()) > 1 })
	})
}

func TestSlotsAndLabelsOfAnExecutorAreSetWhileItRuns(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		labels := job.Labels{"zone": "b", "disk": "ssd"}
		if reply := w.mustTell(bus.VerbSet, fleet.SetRequest{Slots: 2, Labels: &labels}); reply.Slots != 2 {
			w.Errorf("answered by %+v", reply)
		}
		w.until("it is shown", 10*time.Second, func() bool { return w.shown().Slots == 2 })
		if i := w.shown(); i.Zone != "b" || !cmp.Equal(i.Labels, labels) {
			w.Errorf("shown as %+v", i)
		}
		var ids []job.RunID
		for _, name := range []string{"billing-app/a", "billing-app/b", "billing-app/c"} {
			ids = append(ids, w.begin(w.save(name, handler("wait"))))
		}
		time.Sleep(30 * time.Second)
		if n := len(e.Taken()); n != 2 {
			w.Errorf("with two slots it has %d runs", n)
		}
		w.mustTell(bus.VerbSet, fleet.SetRequest{Slots: 3})
		w.until("the third is begun", 10*time.Second, func() bool { return len(e.Taken()) == 3 })
		for _, id := range ids {
			w.wantEnd(id, 2*time.Minute, job.StatusSucceeded, "")
		}
		if i := w.shown(); !cmp.Equal(i.Labels, labels) {
			w.Errorf("its labels are %v after a request that names none", i.Labels)
		}
		e.kill()
		w.until("it is gone", 2*time.Minute, func() bool { return len(w.instances()) == 0 })
		w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		if i := w.shown(); i.Slots != 3 || !cmp.Equal(i.Labels, labels) {
			w.Errorf("after its executor was restarted it is shown as %+v", i)
		}
		for _, wrong := range []fleet.SetRequest{{Slots: -1}, {Slots: 513}, {Labels: &job.Labels{"": "x"}}} {
			if reply, err := w.tell(first, bus.VerbSet, wrong); !errors.Is(err, job.ErrInvalid) {
				w.Errorf("%+v is answered by %+v, %v", wrong, reply, err)
			}
		}
	})
}

func TestAnExecutorThatDrainsLeavesWhenItsRunsHaveEnded(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		drained := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		id := w.begin(w.save("billing-app/wait", handler("wait")))
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		if reply := w.mustTell(bus.VerbDrain, fleet.DrainRequest{}); reply.State != fleet.InstanceDraining || reply.Running != 1 || !reply.DrainBy.IsZero() {
			w.Errorf("answered by %+v", reply)
		}
		w.startExecutor("10.0.0.2:9999", handlers)
		w.online(2)
		w.succeed(w.save("billing-app/ok", handler("ok"), func(j *job.Job) { j.Route = job.RouteFirst }), 3)
		w.wantEnd(id, 2*time.Minute, job.StatusSucceeded, "")
		w.online(1)
		time.Sleep(5 * time.Minute) // it registers on
		if n := len(drained.Taken()); n != 1 || w.instances()[0] != second {
			w.Errorf("it has taken %d runs, and there are %v", n, w.instances())
		}
		w.check(drained.Leave(w.ctx)) // as it does when it is restarted
		w.online(2)
	})
}

func TestADrainWithALimitEndsRunsByThePoliciesOfTheirJobs(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		drained := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		again := w.begin(w.save("billing-app/again", handler("wait")))
		once := w.begin(w.save("billing-app/once", handler("wait"), func(j *job.Job) { j.Delivery = job.AtMostOnce }))
		w.until("both are begun", 10*time.Second, func() bool { return w.started(again) && w.started(once) })
		other := w.startExecutor("10.0.0.2:9999", handlers)
		w.online(2)
		reply := w.mustTell(bus.VerbDrain, fleet.DrainRequest{Within: job.Duration(20 * time.Second)})
		if left := time.Until(reply.DrainBy); left < 19*time.Second || left > 20*time.Second || !w.shown().DrainBy.Equal(reply.DrainBy) {
			w.Errorf("answered by %+v, and shown as %+v", reply, w.shown())
		}
		time.Sleep(19 * time.Second)
		if n := len(w.endsOf(again)) + len(w.endsOf(once)) + len(other.Taken()); n != 0 {
			w.Errorf("%d runs ended or began again before the limit", n)
		}
		w.wantEnd(once, 10*time.Second, job.StatusLost, "the executor was drained, and its time was over")
		w.online(1)
		end := w.wantEnd(again, 3*time.Minute, job.StatusSucceeded, "")
		if end.Instance != second || len(drained.Taken()) != 2 || len(other.Taken()) != 1 {
			w.Errorf("it ended at %s; the executors have taken %d and %d runs", end.Instance, len(drained.Taken()), len(other.Taken()))
		}
	})
}

func TestADrainWithALimitKeepsItWhileNATSIsAway(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		killed := make(chan time.Time, 1)
		w.startExecutor("10.0.0.1:9999", map[string]xxlstandin.Handler{"work": func(ctx context.Context, _ xxlstandin.Run, _ func(string)) (string, error) {
			<-ctx.Done()
			killed <- time.Now()
			return "", ctx.Err()
		}})
		w.online(1)
		id := w.begin(w.save("billing-app/work", handler("work")))
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		w.startExecutor("10.0.0.2:9999", map[string]xxlstandin.Handler{"work": handlers["ok"]})
		w.online(2)
		reply := w.mustTell(bus.VerbDrain, fleet.DrainRequest{Within: job.Duration(5 * time.Second)})
		w.broker.Partition("one")
		time.Sleep(time.Until(reply.DrainBy.Add(5 * time.Second)))
		if len(killed) != 1 {
			t.Error("5 s after the limit the executor still does the run")
		}
		w.broker.Heal("one")
		if end := w.wantEnd(id, time.Minute, job.StatusSucceeded, ""); end.Instance != second {
			t.Errorf("it ended at %s", end.Instance)
		}
		time.Sleep(time.Minute) // the first executor repeats that the run was killed
		if ends := w.endsOf(id); len(ends) != 1 {
			t.Errorf("the run ended %d times, the last time as %+v", len(ends), ends[len(ends)-1])
		}
	})
}

// The Go client reports what a handler returns that was killed, and a run may end as it is being killed.
func TestARunThatSucceedsAlthoughItWasCutOffIsKept(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		e := w.startExecutor("10.0.0.1:9999", handlers)
		w.online(1)
		id := w.begin(w.save("billing-app/wait", handler("wait")))
		w.until("it is begun", 10*time.Second, func() bool { return w.started(id) })
		w.mustTell(bus.VerbDrain, fleet.DrainRequest{Within: job.Duration(time.Second)})
		w.until("it has left", 30*time.Second, func() bool { return len(w.instances()) == 0 })
		time.Sleep(30 * time.Second)
		if n := len(w.endsOf(id)); n != 0 {
			w.Errorf("that it was killed is the end of the run: %+v", w.endsOf(id)[0])
		}
		w.post("callback", fmt.Sprintf(`[{"logId":%d,"handleCode":200,"handleMsg":"done"}]`, e.Taken()[0].LogID))
		if end := w.wantEnd(id, 10*time.Second, job.StatusSucceeded, ""); string(end.Result) != `"done"` {
			w.Errorf("ended as %+v", end)
		}
	})
}

// registers registers an address, and returns what the bridge answers.
func (w *world) registers(address string) string {
	w.Helper()
	return w.post("registry", `{"registryGroup":"EXECUTOR","registryKey":"billingApp","registryValue":"`+address+`"}`)
}

// post sends a bridge what an executor sends.
func (w *world) post(what, body string) string {
	w.Helper()
	transport := &http.Transport{DialContext: w.net.dialFrom("10.0.0.7:1"), DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(w.ctx, http.MethodPost, "http://one:8080/api/"+what, strings.NewReader(body))
	w.check(err)
	req.Header.Set("XXL-JOB-ACCESS-TOKEN", token)
	resp, err := (&http.Client{Transport: transport}).Do(req)
	w.check(err)
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	w.check(err)
	return string(said)
}

func TestAnExecutorThatCannotBeReachedIsToldSoWhenItRegisters(t *testing.T) {
	run(t, func(w *world) {
		w.startBridge("one")
		told := func(address, why string) {
			w.Helper()
			said := ""
			w.until("it is told", 30*time.Second, func() bool { said = w.registers("http://" + address); return strings.Contains(said, `"code":500`) })
			if !strings.Contains(said, "the bridge cannot reach http://"+address+": ") || !strings.Contains(said, why) {
				w.Errorf("%s is told %s", address, said)
			}
		}
		told("10.0.0.1:9999", "connection refused")
		w.startExecutor("10.0.0.2:9999", handlers, func(c *xxlstandin.Config) { c.Token = "another" }) // which cannot register itself
		told("10.0.0.2:9999", "it refuses calls: The access token is wrong.")
		w.startExecutor("10.0.0.1:9999", handlers)
		w.until("it is not told so any more", 10*time.Second, func() bool { return strings.Contains(w.registers("http://10.0.0.1:9999"), `"code":200`) })
		w.online(1)
	})
}
