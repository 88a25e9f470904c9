package conformance

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

var pullCases = []Case{
	{Name: "pull-request", Passage: "Pulling", Rule: "a pull request asks for at most the free slots, with expires and idle_heartbeat, into an inbox of the group", run: func(t *test) {
		r := t.firstPull()
		switch slots := t.instance().Slots; {
		case r.Batch < 1 || r.Batch > slots:
			t.failf("batch is %d, of %d slots", r.Batch, slots)
		case r.Expires < time.Second || r.Expires > 5*time.Minute:
			t.failf("expires is %s; it must be in nanoseconds", r.Expires)
		case r.IdleHeartbeat < 500*time.Millisecond || r.IdleHeartbeat > r.Expires/2:
			t.failf("idle_heartbeat is %s, of expires %s", r.IdleHeartbeat, r.Expires)
		case !strings.HasPrefix(r.reply, bus.ExecutorInbox(group)+"."):
			t.failf("the inbox is %s; it must begin with %s.", r.reply, bus.ExecutorInbox(group))
		}
	}},
	{Name: "no-consumer", Passage: "Pulling", Rule: "while there is no consumer (503), an executor asks again after 250 ms to 2 s, and uses the consumer once it is there", run: func(t *test) {
		t.firstPull()
		t.do(func() { t.noConsumer, t.pulls = true, nil })
		for _, r := range t.copyOfPulls() {
			t.status(r, "409 Consumer Deleted")
		}
		before := t.pullsSoFar()
		t.wait(3 * time.Second)
		if n := t.pullsSoFar() - before; n > 13 || n < 1 {
			t.failf("it asked %d times within 3 s", n)
		}
		t.do(func() { t.noConsumer = false })
		g := t.trigger("echo", nil).pulled(1)
		g.want(g.ended(seconds), job.StatusSucceeded, "")
	}},
	{Name: "request-ended", Passage: "Pulling", Rule: "after 404 or 408 an executor makes another request", run: func(t *test) {
		for _, status := range []string{"408 Request Timeout", "404 No Messages"} {
			r := t.firstPull()
			before := t.pullsSoFar()
			t.do(func() { t.pulls = nil })
			t.status(r.reply, status)
			for deadline := time.Now().Add(seconds); t.pullsSoFar() == before; t.wait(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.failf("no other pull request within %s of %s", seconds, status)
				}
			}
		}
	}},
	{Name: "silent-request", Passage: "Pulling", Level: Robust, Slow: true, Rule: "after two silent intervals an executor gives up a request and its subscription, and makes another", run: func(t *test) {
		r := t.firstPull()
		before := t.pullsSoFar()
		t.do(func() { t.pulls = nil }) // no heartbeats any more
		limit := time.Now().Add(3*r.IdleHeartbeat + seconds)
		for t.pullsSoFar() == before || t.listens(r.reply) {
			if time.Now().After(limit) {
				t.failf("within %s there was no other request, or the old inbox has a listener still", 3*r.IdleHeartbeat+seconds)
			}
			t.wait(50 * time.Millisecond)
		}
	}},
	{Name: "slots", Passage: "Pulling", Rule: "an executor never runs more than its slots, nor asks for more than are free", run: func(t *test) {
		t.firstPull()
		slots := t.instance().Slots
		var all []*given
		for range slots {
			all = append(all, t.trigger("sleep", map[string]any{"seconds": 2}).pulled(1))
		}
		t.wait(500 * time.Millisecond)
		if n := t.waiting(); n != 0 {
			t.failf("all %d slots are taken, and it asks for %d more", slots, n)
		}
		for _, g := range all {
			g.want(g.ended(2*seconds), job.StatusSucceeded, "")
		}
		g := t.trigger("echo", nil).pulled(1)
		g.ended(seconds)
	}},
	{Name: "consumers", Passage: "Consumers", Level: Partitions, Rule: "an executor pulls from all consumers on its list, and answers each trigger where it came from; a consumer that is taken off the list is not asked any more", run: func(t *test) {
		t.firstPull()
		first, second := bus.ConsumersOf(group)[0], bus.Consumer{Stream: "TRIG2", Consumer: "any-" + group}
		t.pullFrom(first, second)
		for _, from := range []bus.Consumer{second, first, second} {
			g := t.triggerFrom(from)
			g.want(g.ended(seconds), job.StatusSucceeded, "")
			g.answered("+ACK", seconds)
		}
		t.pullFrom(second)
		t.untilWaiting("at the first consumer, which is not on the list", func(at map[bus.Consumer]int) bool { return at[first] == 0 && at[second] > 0 })
		t.triggerFrom(second).ended(seconds)
	}},
	{Name: "busy-consumer", Passage: "Consumers", Level: Partitions, Rule: "the consumer that brought the last trigger is asked for all the slots that the others leave, and each of the others for one", run: func(t *test) {
		t.firstPull()
		slots := t.instance().Slots
		busy, calm := bus.Consumer{Stream: "TRIG2", Consumer: "any-" + group}, bus.ConsumersOf(group)[0]
		t.pullFrom(calm, busy)
		for range 2 {
			g := t.triggerFrom(busy)
			g.ended(seconds)
			t.untilWaiting("in these shares", func(at map[bus.Consumer]int) bool { return at[busy] == slots-1 && at[calm] == 1 })
			busy, calm = calm, busy
		}
	}},
	{Name: "consumers-take-turns", Passage: "Consumers", Level: Partitions, Rule: "with fewer slots than consumers, each has its turn", run: func(t *test) {
		t.firstPull()
		t.ask(bus.VerbSet, nil, `{"slots": 1}`)
		all := []bus.Consumer{bus.ConsumersOf(group)[0], {Stream: "TRIG2", Consumer: "any-" + group}, {Stream: "TRIG3", Consumer: "any-" + group}}
		t.pullFrom(all...)
		for range 2 {
			for _, from := range all {
				t.triggerFrom(from).ended(seconds)
			}
		}
		if n := t.waiting(); n > 1 {
			t.failf("it asks for %d triggers, and has one slot", n)
		}
	}},
}

// pullFrom has the executor pull from these consumers.
func (t *test) pullFrom(consumers ...bus.Consumer) {
	body, err := json.Marshal(bus.ConsumersRequest{Consumers: consumers})
	if err != nil {
		t.failf("encode consumers: %v", err)
	}
	if reply := t.ask(bus.VerbConsumers, nil, string(body)); reply.Answer != fleet.AnswerAccepted {
		t.failf("the answer is %s, want accepted", reply.Answer)
	}
}

// triggerFrom delivers a trigger of a consumer.
func (t *test) triggerFrom(from bus.Consumer) *given {
	g := t.trigger("echo", nil)
	g.from = from
	return g.pulled(1)
}

// untilWaiting waits until pull requests wait in a way.
func (t *test) untilWaiting(how string, fits func(map[bus.Consumer]int) bool) {
	for deadline := time.Now().Add(seconds); !fits(t.waitingAt()); t.wait(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.failf("within %s pull requests did not wait %s: they are %v", seconds, how, t.waitingAt())
		}
	}
}

// firstPull waits for a pull request and returns it.
func (t *test) firstPull() pullRequest {
	for deadline := time.Now().Add(2 * seconds); ; t.wait(20 * time.Millisecond) {
		t.mu.Lock()
		asked := t.asked
		t.mu.Unlock()
		if len(asked) > 0 {
			return asked[len(asked)-1]
		}
		if time.Now().After(deadline) {
			t.failf("no pull request")
		}
	}
}

func (t *test) pullsSoFar() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.asked)
}

// copyOfPulls returns the inboxes of all requests that somebody listens to.
func (t *test) copyOfPulls() (inboxes []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.asked {
		if t.listens(r.reply) {
			inboxes = append(inboxes, r.reply)
		}
	}
	return inboxes
}
