package conformance

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

var stopCases = []Case{
	{Name: "stop", Passage: "Stopping", Rule: "with SIGTERM an executor says draining, lets a run end, removes its heartbeat, has no pull request open, and exits with 0", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 1}).pulled(1)
		t.wait(300 * time.Millisecond)
		mark := t.mark()
		key := bus.SubjectHeartbeat(group, t.instance().Instance.Instance)
		t.notef("SIGTERM")
		if err := t.exec.stop(15 * time.Second); err != nil {
			t.failf("it ended with %v, want exit code 0", err)
		}
		g.want(g.ended(seconds), job.StatusSucceeded, "")
		g.answered("+ACK", seconds)
		if _, ok := t.await(t.ctx, mark, 1, seconds, func(h heard) bool { return h.subject == key && h.header.Get("KV-Operation") == "DEL" }); !ok {
			t.failf("its heartbeat was not removed")
		}
		if n := t.waiting(); n > 0 {
			t.failf("%d triggers are still asked for", n)
		}
	}},
	{Name: "stop-gives-back", Passage: "Stopping", Level: Robust, Slow: true, Rule: "a run that does not end in time is given back with a delay, without an event", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 300}).pulled(1)
		t.wait(1500 * time.Millisecond)
		t.notef("request drain within 1s")
		t.ask(bus.VerbDrain, nil, `{"within": "1s"}`)
		g.answered("-NAK", 40*time.Second)
		if got := g.events(bus.EventFinished); len(got) > 0 {
			g.failf("it reported an end: %s", got[0])
		}
		if nak := g.since(g.mark, g.isAnswer("-NAK")); len(nak) != 1 || string(nak[0].data) == "-NAK" {
			g.failf("it answered %v, want one -NAK with a delay", nak)
		}
	}},
	{Name: "drain", Passage: "Requests", Rule: "a draining executor says so in answer and heartbeat, and leaves when it has no runs", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 1.5}).pulled(1)
		t.wait(300 * time.Millisecond)
		if reply := t.ask(bus.VerbDrain, nil, ""); reply.Answer != fleet.AnswerAccepted || reply.State != fleet.InstanceDraining {
			t.failf("drain: %+v", reply)
		}
		t.untilState(fleet.InstanceDraining)
		if reply := t.trigger("echo", nil).offer(1, nil); reply.Answer != fleet.AnswerDraining {
			t.failf("run is answered with %s, want draining", reply.Answer)
		}
		g.ended(seconds)
		for deadline := time.Now().Add(2 * seconds); ; t.wait(20 * time.Millisecond) {
			select {
			case <-t.exec.ended:
				return
			default:
			}
			if time.Now().After(deadline) {
				t.failf("it has no runs, and does not leave")
			}
		}
	}},
	{Name: "drain-limit", Passage: "Requests", Level: Robust, Rule: "a drain with a time says until when, in answer and heartbeat; each request sets it again or removes it, and uncordon ends the drain", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 4}).pulled(1)
		t.wait(300 * time.Millisecond)
		for _, within := range []time.Duration{time.Hour, 30 * time.Minute, 0} {
			body := ""
			if within > 0 {
				body = `{"within": "` + within.String() + `"}`
			}
			reply := t.ask(bus.VerbDrain, nil, body)
			near := func(by time.Time) bool {
				return within == 0 && by.IsZero() || within > 0 && time.Until(by) > within-time.Minute && time.Until(by) <= within
			}
			if reply.Answer != fleet.AnswerAccepted || reply.State != fleet.InstanceDraining || !near(reply.DrainBy) {
				t.failf("drain %s: %+v", body, reply)
			}
			t.untilHeartbeat(2*time.Second, "has the same drain_by", func(h *bus.Heartbeat) bool {
				return h.State == fleet.InstanceDraining && near(h.DrainBy)
			})
		}
		if reply := t.ask(bus.VerbUncordon, nil, ""); reply.State != fleet.InstanceOnline || !reply.DrainBy.IsZero() {
			t.failf("uncordon: %+v", reply)
		}
		g.want(g.ended(2*seconds), job.StatusSucceeded, "")
		next := t.trigger("echo", nil).pulled(1)
		next.want(next.ended(seconds), job.StatusSucceeded, "")
	}},
	{Name: "connection-cut", Passage: "Heartbeats", Level: Robust, Slow: true, Rule: "an executor that was cut off connects again, says so by a heartbeat, and reports what has ended meanwhile", run: func(t *test) {
		g := t.trigger("sleep", map[string]any{"seconds": 1.5}).pulled(1)
		t.wait(500 * time.Millisecond)
		t.notef("the connection is cut for 4 s")
		t.proxy.cut()
		t.wait(4 * time.Second)
		mark := t.mark()
		t.proxy.heal()
		if _, ok := t.await(t.ctx, mark, 1, 20*time.Second, isBeat); !ok {
			t.failf("no heartbeat within 20 s of the connection's return")
		}
		g.want(g.ended(20*time.Second), job.StatusSucceeded, "")
		g.answered("+ACK", 2*seconds)
		next := t.trigger("echo", nil).pulled(1)
		next.want(next.ended(seconds), job.StatusSucceeded, "")
	}},
	{Name: "at-most-once", Passage: "Claims", Rule: "an at_most_once attempt, pulled or offered, starts only once its claim is stored, with its two headers; once the end is stored, the claim says so", run: func(t *test) {
		for _, get := range []func(*given){func(g *given) { g.pulled(1) }, func(g *given) { g.offered(1) }} {
			g := t.trigger("echo", nil, once)
			get(g)
			g.ended(seconds)
			key := "$KV." + bus.BucketClaim + "." + group + "." + string(g.RunID) + "-1-0"
			claims, ok := t.await(t.ctx, g.mark, 2, seconds, func(h heard) bool { return h.subject == key })
			if !ok {
				t.failf("%d messages on %s, want a claim and its end", len(t.since(g.mark, func(h heard) bool { return h.subject == key })), key)
			}
			first, last := claims[0], claims[1]
			if ttl, err := time.ParseDuration(first.header.Get("Nats-TTL")); err != nil || ttl != 744*time.Hour || first.header.Get(nats.ExpectedLastSubjSeqHdr) != "0" {
				t.failf("the claim has the headers %v", first.header)
			}
			var said struct{ Ended bool }
			if ttl, err := time.ParseDuration(last.header.Get("Nats-TTL")); err != nil || ttl != 10*time.Minute || last.header.Get(nats.ExpectedLastSubjSeqHdr) != "" || json.Unmarshal(last.data, &said) != nil || !said.Ended {
				t.failf("the end of the claim is %s", last)
			}
			if end := g.events(bus.EventFinished)[0]; end.at.Before(first.at) || last.at.Before(end.at) {
				t.failf("its claim, its end and the end of the claim did not come in this order")
			}
		}
	}},
	{Name: "at-most-once-redelivered", Passage: "Handing over", Rule: "an at_most_once trigger that was delivered before is handed over, and not claimed", run: func(t *test) {
		g := t.trigger("echo", nil, once).pulled(2)
		g.handedOver()
		if got := t.since(g.mark, func(h heard) bool { return strings.HasPrefix(h.subject, "$KV."+bus.BucketClaim+".") }); len(got) > 0 {
			g.failf("it claimed the attempt: %s", got[0])
		}
	}},
	{Name: "at-most-once-in-flight", Passage: "Claims", Level: Robust, Rule: "a claim that is refused with error 10164 is sent again, and the attempt starts once it is stored", run: func(t *test) {
		t.do(func() {
			t.claim = func(n int) claimAnswer {
				if n <= 2 {
					return claimInFlight
				}
				return claimUsual
			}
		})
		g := t.trigger("echo", nil, once).pulled(1)
		g.want(g.ended(20*time.Second), job.StatusSucceeded, "")
		g.answered("+ACK", 2*seconds)
	}},
	{Name: "at-most-once-unanswered", Passage: "Claims", Level: Robust, Rule: "an instance whose claim is stored, though its answer was lost, starts the attempt; a replica that lags behind is asked for the claim again", run: func(t *test) {
		t.do(func() {
			t.claim = func(n int) claimAnswer {
				if n == 1 {
					t.lags = 1
					return claimUnanswered
				}
				return claimUsual
			}
		})
		g := t.trigger("echo", nil, once).pulled(1)
		g.want(g.ended(40*time.Second), job.StatusSucceeded, "")
		g.answered("+ACK", 2*seconds)
	}},
	{Name: "at-most-once-claimed", Passage: "Claims", Rule: "an attempt that another instance has claimed is dropped without an answer", run: func(t *test) {
		g := t.trigger("echo", nil, once)
		t.do(func() { t.kept[bus.SubjectClaim(g.Trigger)] = othersClaim() })
		g.pulled(1)
		t.wait(2 * time.Second)
		g.dropped()
	}},
	{Name: "at-most-once-unanswered-taken", Passage: "Claims", Level: Robust, Rule: "a claim without an answer is repeated; if that of another instance is stored, the trigger is dropped without an answer", run: func(t *test) {
		t.do(func() {
			t.claim = func(n int) claimAnswer {
				if n == 1 {
					return claimLost
				}
				return claimUsual
			}
		})
		g := t.trigger("echo", nil, once).pulled(1)
		if _, ok := t.await(t.ctx, g.mark, 1, seconds, func(h heard) bool { return h.subject == bus.SubjectClaim(g.Trigger) }); !ok {
			g.failf("it did not claim the attempt")
		}
		t.do(func() { t.kept[bus.SubjectClaim(g.Trigger)] = othersClaim() })
		reads := "$JS.API.DIRECT.GET.KV_" + bus.BucketClaim + "." + bus.SubjectClaim(g.Trigger)
		if _, ok := t.await(t.ctx, g.mark, 1, 3*seconds, func(h heard) bool { return h.subject == reads }); !ok {
			g.failf("it did not read whose claim is stored")
		}
		t.wait(time.Second)
		g.dropped()
	}},
}

// othersClaim returns a claim that another instance has stored.
func othersClaim() entry {
	return entry{seq: 5, data: []byte(`{"instance":"other","delivery":1,"try":"x"}`), at: time.Now()}
}

// dropped fails if the executor has said that it started or ended the attempt, or has answered its
// trigger for good.
func (g *given) dropped() {
	for _, kind := range []bus.EventKind{bus.EventStarted, bus.EventFinished} {
		if got := g.events(kind); len(got) > 0 {
			g.failf("it sent %s", got[0])
		}
	}
	for _, text := range []string{"+ACK", "+TERM", "-NAK"} {
		g.silent(text)
	}
}

// once makes a trigger one that must not be done twice.
func once(tr *bus.Trigger) { tr.Delivery = job.AtMostOnce }
