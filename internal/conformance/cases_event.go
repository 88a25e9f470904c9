package conformance

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

var eventCases = []Case{
	{Name: "event-refused", Passage: "Events", Rule: "an event that is refused is sent again with the same id, after pauses that double; the trigger is acknowledged only at the end", run: func(t *test) {
		g := t.trigger("echo", nil)
		t.do(func() {
			t.event = func(_ heard, n int) eventAnswer { return []eventAnswer{refuse, refuse, refuse, store}[min(n-1, 3)] }
		})
		g.pulled(1)
		g.answered("+ACK", 3*seconds)
		ends := g.events(bus.EventFinished)
		if len(ends) != 4 {
			g.failf("the event was sent %d times, want 4", len(ends))
		}
		for i, h := range ends[1:] {
			if got, want := h.header.Get(nats.MsgIdHdr), ends[0].header.Get(nats.MsgIdHdr); got != want {
				g.failf("a repeat has the id %q, the first had %q", got, want)
			}
			if pause := h.at.Sub(ends[i].at); pause < 200*time.Millisecond {
				g.failf("it was sent again after %s", pause)
			}
		}
	}},
	{Name: "event-unanswered", Passage: "Events", Level: Robust, Slow: true, Rule: "while an event is not answered the run keeps its slot, the executor says +WPI, and sends the event again", run: func(t *test) {
		g := t.trigger("echo", nil)
		t.do(func() { t.event = func(heard, int) eventAnswer { return ignore } })
		g.pulled(1)
		g.ended(seconds)
		t.wait(12 * time.Second)
		g.silent("+ACK")
		if n := len(g.events(bus.EventFinished)); n < 2 {
			g.failf("the event was sent %d times within 12 s", n)
		}
		if len(g.since(g.mark, g.isAnswer("+WPI"))) < 2 {
			g.failf("it did not say +WPI meanwhile")
		}
		if n := t.instance().Running; n != 1 {
			g.failf("its heartbeat says %d runs, want 1", n)
		}
		t.do(func() { t.event = nil })
		g.answered("+ACK", 2*seconds)
	}},
	{Name: "event-duplicate", Passage: "Events", Rule: "an acknowledgement with duplicate: true is a success", run: func(t *test) {
		g := t.trigger("echo", nil)
		t.do(func() {
			t.event = func(h heard, _ int) eventAnswer {
				t.ids[h.header.Get(nats.MsgIdHdr)] = 7 // it was there
				return store
			}
		})
		g.pulled(1)
		g.answered("+ACK", seconds)
		if n := len(g.events(bus.EventFinished)); n != 1 {
			g.failf("the event was sent %d times, want once", n)
		}
	}},
	{Name: "retry", Passage: "Trigger", Rule: "an end after which another attempt follows says retry: true, and no other does", run: func(t *test) {
		rule := func(tr *bus.Trigger) { tr.Retry = job.Retry{Limit: 1, On: []job.Status{job.StatusFailed}} }
		first := t.trigger("fail", map[string]any{"message": "no"}, rule).pulled(1)
		if e := first.ended(seconds); !e.Retry {
			first.failf("the first of two attempts has no retry: true")
		}
		last := t.trigger("fail", map[string]any{"message": "no"}, rule, func(tr *bus.Trigger) { tr.Attempt = 2 }).pulled(1)
		if e := last.ended(seconds); e.Retry {
			last.failf("the last attempt has retry: true")
		}
		other := t.trigger("echo", nil, rule).pulled(1)
		if e := other.ended(seconds); e.Retry {
			other.failf("an attempt that succeeded has retry: true")
		}
	}},
}
