package conformance

import (
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
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
	{Name: "request-ended", Passage: "Pulling", Rule: "after 408 an executor makes another request", run: func(t *test) {
		r := t.firstPull()
		before := t.pullsSoFar()
		t.do(func() { t.pulls = nil })
		t.status(r.reply, "408 Request Timeout")
		for deadline := time.Now().Add(seconds); t.pullsSoFar() == before; t.wait(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.failf("no other pull request within %s", seconds)
			}
		}
	}},
	{Name: "silent-request", Passage: "Pulling", Slow: true, Rule: "after two silent intervals an executor gives up a request and its subscription, and makes another", run: func(t *test) {
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
