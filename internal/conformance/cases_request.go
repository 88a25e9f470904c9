package conformance

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

var requestCases = []Case{
	{Name: "run", Passage: "Requests", Rule: "a run request is accepted, and the attempt is like a pulled one", run: func(t *test) {
		g := t.trigger("echo", map[string]any{"a": 1})
		g.offered(1)
		g.want(g.ended(seconds), job.StatusSucceeded, "")
		g.answered("+ACK", seconds)
	}},
	{Name: "run-twice", Passage: "Requests", Rule: "a request for an attempt that is here, or has ended here, is accepted and runs nothing twice", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 1})
		g.offered(1)
		mark := g.mark
		g.offered(2)
		g.mark = mark
		g.want(g.ended(seconds), job.StatusSucceeded, "")
		g.answered("+ACK", seconds)
		g.offered(3)
		g.answered("+ACK", seconds)
		g.mark = mark
		if n := len(g.events(bus.EventFinished)); n != 1 {
			g.failf("%d finished events, want 1", n)
		}
	}},
	{Name: "run-from-pack", Passage: "Requests", Level: Robust, Rule: "a run that was in a pack was delivered once more than Carillon-Ack says", run: func(t *test) {
		g := t.trigger("echo", nil)
		if reply := g.offer(1, nats.Header{bus.HeaderPack: {"7"}}); reply.Answer != fleet.AnswerAccepted {
			g.failf("the answer is %s, want accepted", reply.Answer)
		}
		if e := g.ended(seconds); e.Delivery != 2 {
			g.failf("the end has delivery %d, want 2", e.Delivery)
		}
		g.answered("+ACK", seconds)
	}},
	{Name: "busy", Passage: "Requests", Rule: "with no free slot, run is answered with busy", run: func(t *test) {
		t.firstPull()
		var all []*given
		for range t.instance().Slots {
			g := t.trigger("sleep", map[string]any{"seconds": 2})
			g.offered(1)
			all = append(all, g)
		}
		if reply := t.trigger("echo", nil).offer(1, nil); reply.Answer != fleet.AnswerBusy {
			t.failf("the answer is %s, want busy", reply.Answer)
		}
		if reply := t.ask(bus.VerbIdle, nil, `{"job": "conformance/echo"}`); reply.Answer != fleet.AnswerBusy {
			t.failf("idle is answered with %s, want busy", reply.Answer)
		}
		for _, g := range all {
			g.ended(2 * seconds)
		}
	}},
	{Name: "resume-unknown", Passage: "Requests", Level: Robust, Rule: "a run with Carillon-Resume that is not here is answered with gone", run: func(t *test) {
		if reply := t.trigger("echo", nil).offer(2, nats.Header{bus.HeaderResume: {"1"}}); reply.Answer != fleet.AnswerGone {
			t.failf("the answer is %s, want gone", reply.Answer)
		}
	}},
	{Name: "unknown-handler-offered", Passage: "Requests", Rule: "a run for a handler that is not there is answered with unknown_handler", run: func(t *test) {
		if reply := t.trigger("nowhere", nil).offer(1, nil); reply.Answer != fleet.AnswerUnknownHandler {
			t.failf("the answer is %s, want unknown_handler", reply.Answer)
		}
	}},
	{Name: "unknown-kind-offered", Passage: "Requests", Rule: "a run of a kind of task that is not run here is answered with unknown_kind", run: func(t *test) {
		foreign := t.foreignKind()
		if foreign == nil {
			return
		}
		if reply := t.trigger("shell", nil, foreign).offer(1, nil); reply.Answer != fleet.AnswerUnknownKind {
			t.failf("the answer is %s, want unknown_kind", reply.Answer)
		}
	}},
	{Name: "route-reason", Passage: "Requests", Level: Robust, Rule: "a route reason is copied to a started event, which is sent at once", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 0.7})
		if reply := g.offer(1, nats.Header{bus.HeaderRouteReason: {"the first choice is busy"}}); reply.Answer != fleet.AnswerAccepted {
			t.failf("the answer is %s, want accepted", reply.Answer)
		}
		found, ok := g.await(g.ctx, g.mark, 1, seconds, g.isEvent(bus.EventStarted))
		if !ok {
			g.failf("no started event")
		}
		if e := g.read(found[0]); e.RouteReason != "the first choice is busy" {
			g.failf("route_reason is %q", e.RouteReason)
		}
	}},
	{Name: "forged-requests", Passage: "Requests", Rule: "a message that is no request, or that JetStream may have sent, is dropped without an answer", run: func(t *test) {
		a := t.instance().Address()
		for what, m := range map[string]*nats.Msg{
			"without Carillon-Message": {Subject: a.Subject(bus.VerbDrain)},
			"with a Nats- header":      {Subject: a.Subject(bus.VerbDrain), Header: nats.Header{bus.HeaderMessage: {bus.MessageRequest}, "Nats-Sequence": {"1"}}},
		} {
			t.notef("a request drain %s", what)
			if _, err := t.nc.RequestMsg(m, 700*time.Millisecond); err == nil {
				t.failf("a request %s was answered", what)
			}
		}
		if h := t.instance(); h.State != fleet.InstanceOnline {
			t.failf("it is %s", h.State)
		}
	}},
	{Name: "cordon", Passage: "Requests", Level: Robust, Rule: "cordon and uncordon change the state at once, in answer and heartbeat; a cordoned instance takes no run", run: func(t *test) {
		t.firstPull()
		if reply := t.ask(bus.VerbCordon, nil, ""); reply.Answer != fleet.AnswerAccepted || reply.State != fleet.InstanceCordoned {
			t.failf("cordon: %+v", reply)
		}
		t.untilState(fleet.InstanceCordoned)
		if reply := t.trigger("echo", nil).offer(1, nil); reply.Answer != fleet.AnswerCordoned {
			t.failf("run is answered with %s, want cordoned", reply.Answer)
		}
		if n := t.waiting(); n > 0 {
			t.failf("it asks for %d triggers all the same", n)
		}
		if reply := t.ask(bus.VerbUncordon, nil, ""); reply.State != fleet.InstanceOnline {
			t.failf("uncordon: %+v", reply)
		}
		g := t.trigger("echo", nil).pulled(1)
		g.ended(seconds)
	}},
	{Name: "set", Passage: "Requests", Level: Robust, Rule: "set changes slots and labels, in answer and heartbeat", run: func(t *test) {
		if reply := t.ask(bus.VerbSet, nil, `{"slots": 2, "labels": {"zone": "eu"}}`); reply.Answer != fleet.AnswerAccepted || reply.Slots != 2 {
			t.failf("set: %+v", reply)
		}
		t.untilHeartbeat(seconds, "has them", func(h *bus.Heartbeat) bool {
			return h.Slots == 2 && h.Labels["zone"] == "eu" && h.Zone == "eu"
		})
	}},
	{Name: "refused", Passage: "Requests", Level: Robust, Rule: "a refusal is counted, and a heartbeat at once says how many there were and the last", run: func(t *test) {
		for n, reason := range []string{"attempt: 0 must be 1 or more", "status: \"ok\" is none"} {
			r := fleet.Refusal{Stream: "EVT", Sequence: uint64(n) + 7, Subject: "evt.1." + group, Reason: reason, At: time.Now().UTC().Truncate(time.Millisecond)}
			body, err := json.Marshal(r)
			if err != nil {
				t.failf("encode refusal: %v", err)
			}
			if reply := t.ask(bus.VerbRefused, nil, string(body)); reply.Answer != fleet.AnswerAccepted {
				t.failf("the answer is %s, want accepted", reply.Answer)
			}
			t.untilHeartbeat(2*time.Second, "says so", func(h *bus.Heartbeat) bool {
				return h.Refused == n+1 && h.Refusal != nil && *h.Refusal == r
			})
		}
	}},
	{Name: "wrong-requests", Passage: "Requests", Level: Robust, Rule: "a request that makes no sense is answered with a fault of kind invalid", run: func(t *test) {
		for _, c := range []struct{ verb, body string }{{bus.VerbSet, "no json"}, {bus.VerbSet, `{"slots": -1}`}, {bus.VerbConsumers, `{"consumers": []}`}, {bus.VerbConsumers, `{"consumers": [{"stream": "TRIG.*", "consumer": "x"}]}`}, {bus.VerbRefused, "no json"}, {bus.VerbRefused, "{}"}, {"dance", ""}} {
			t.notef("request %s: %s", c.verb, c.body)
			m, err := t.nc.RequestMsg(bus.NewRequest(t.instance().Address(), c.verb, nil, []byte(c.body)), time.Second)
			if err != nil {
				t.failf("%s %s: %v", c.verb, c.body, err)
			}
			if _, err := bus.DecodeInstanceReply(m); err == nil || !strings.Contains(string(m.Data), `"invalid"`) {
				t.failf("%s %s is answered with %s", c.verb, c.body, m.Data)
			}
		}
	}},
	{Name: "attempts", Passage: "Requests", Rule: "attempts says of each whether it is held, reported or none", run: func(t *test) {
		done := t.trigger("echo", nil).pulled(1)
		done.answered("+ACK", seconds)
		live := t.trigger("sleep", map[string]any{"seconds": 2}).pulled(1)
		t.wait(300 * time.Millisecond)
		body := `{"attempts": [{"run_id": "` + string(live.RunID) + `", "attempt": 1}, {"run_id": "` + string(done.RunID) + `", "attempt": 1}, {"run_id": "` + string(job.NewRunID(time.Now())) + `", "attempt": 1}]}`
		reply := t.ask(bus.VerbAttempts, nil, body)
		if len(reply.Attempts) != 3 || reply.Attempts[0] != fleet.CustodyHeld || reply.Attempts[1] != fleet.CustodyReported || reply.Attempts[2] != fleet.CustodyNone {
			t.failf("attempts: %v, want held, reported, none", reply.Attempts)
		}
		live.ended(seconds)
	}},
}

// offer sends the trigger to the instance, as a dispatcher does, and returns the answer.
func (g *given) offer(n int, more nats.Header) *fleet.InstanceReply {
	g.mark = g.stage.mark()
	m := g.message()
	header := nats.Header{bus.HeaderToken: m.Header[bus.HeaderToken]}
	g.mu.Lock()
	g.stage.seq++
	g.ack = g.ackSubject(bus.Consumer{Stream: bus.StreamTrig, Consumer: bus.ConsumerRoute(group)}, n, g.seq, g.stage.seq)
	g.mu.Unlock()
	header[bus.HeaderAck] = []string{g.ack}
	maps.Copy(header, more)
	return g.ask(bus.VerbRun, header, string(m.Data))
}

// offered is offer that must be accepted.
func (g *given) offered(n int) {
	if reply := g.offer(n, nil); reply.Answer != fleet.AnswerAccepted {
		g.failf("the answer is %s, want accepted", reply.Answer)
	}
}

// untilState waits for a heartbeat that says so.
func (t *test) untilState(state fleet.InstanceState) {
	t.untilHeartbeat(2*time.Second, "says "+string(state), func(h *bus.Heartbeat) bool { return h.State == state })
}

// untilHeartbeat waits for a heartbeat that does what is said.
func (t *test) untilHeartbeat(within time.Duration, does string, fits func(*bus.Heartbeat) bool) {
	for deadline := time.Now().Add(within); !fits(t.instance()); t.wait(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.failf("no heartbeat that %s within %s: the last is %+v", does, within, t.instance().Instance)
		}
	}
}
