package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// child is a job of the group that there is. All others do not exist.
const child job.Name = group + "/child"

var startingCases = []Case{
	{Name: "start", Passage: "Starting runs", Level: Robust, Rule: "requests for runs are bound to the attempt, and a further attempt makes the same ones", run: func(t *test) {
		if !t.starts() {
			return
		}
		again := func(tr *bus.Trigger) { tr.Retry.Limit = 1 }
		first := t.trigger("start", map[string]any{"jobs": []job.Name{child, child}}, again).pulled(1)
		ids := first.startedRuns()
		if len(ids) != 2 || ids[0] == ids[1] {
			first.failf("it returned %q, want the ids of two runs", ids)
		}
		second := t.trigger("start", map[string]any{"jobs": []job.Name{child, child}}, again, func(tr *bus.Trigger) { tr.RunID, tr.Attempt = first.RunID, 2 }).pulled(1)
		if same := second.startedRuns(); !slices.Equal(same, ids) {
			second.failf("the second attempt returned %q, want the runs of the first: %q", same, ids)
		}
	}},
	{Name: "start-refused", Passage: "Starting runs", Level: Robust, Rule: "a refusal reaches the handler with its text, and is not asked again", run: func(t *test) {
		if !t.starts() {
			return
		}
		for name, text := range map[job.Name]string{group + "/nowhere": "there is no job " + group + "/nowhere", "other/child": "other/child is of another group"} {
			g := t.trigger("start", map[string]any{"jobs": []job.Name{name}}).pulled(1)
			g.want(g.ended(seconds), job.StatusFailed, text)
			if n := len(g.requests()); n != 1 {
				g.failf("it asked %d times for a run of %s, want once", n, name)
			}
		}
	}},
	{Name: "start-repeated", Passage: "Starting runs", Level: Robust, Rule: "a request that no server can do now is repeated with its count", run: func(t *test) {
		if !t.starts() {
			return
		}
		t.do(func() { t.busy = 1 })
		g := t.trigger("start", map[string]any{"jobs": []job.Name{child}}).pulled(1)
		if ids := g.startedRuns(); len(ids) != 1 {
			g.failf("it returned %q, want the id of a run", ids)
		}
		asked := g.requests()
		if len(asked) != 2 || string(asked[0].data) != string(asked[1].data) {
			g.failf("it asked %v, want the same request twice", asked)
		}
	}},
}

// starting is what the stage knows of runs that handlers start.
type starting struct {
	ids  map[string]job.RunID // by request
	busy int                  // so many requests are answered with unavailable
}

// onStart starts a run for a handler, as a server does: one for equal requests.
func (s *stage) onStart(m *nats.Msg) {
	r, err := bus.DecodeStart(m)
	var reply bus.StartReply
	s.mu.Lock()
	switch {
	case err != nil:
	case r.Job.Group() != group:
		err = fmt.Errorf("%w: %s is of another group", job.ErrConflict, r.Job)
	case r.Job != child:
		err = fmt.Errorf("%w: there is no job %s", job.ErrNotFound, r.Job)
	case s.busy > 0:
		s.busy--
		err = fmt.Errorf("%w: try again", job.ErrUnavailable)
	default:
		request := fmt.Sprint(r.Job, string(r.Params), r.Count)
		if reply.RunID, reply.Existed = s.starting.ids[request]; !reply.Existed {
			reply.RunID = job.NewRunID(time.Now())
			s.starting.ids[request] = reply.RunID
		}
	}
	s.mu.Unlock()
	_ = bus.Respond(m, &reply, err) // who does not get it asks again, or the case fails
}

// starts reports whether handlers can start runs, which is up to the executor.
func (t *test) starts() bool {
	offered := slices.Contains(t.instance().Handlers, "start")
	if !offered {
		t.notef("handler start is not announced, so there is nothing to test")
	}
	return offered
}

// requests returns the requests for runs since the trigger was given.
func (g *given) requests() []heard {
	return g.since(g.mark, func(h heard) bool { return h.subject == bus.SubjectStart(group) })
}

// startedRuns waits for the end of handler start, checks its requests, and returns which runs it has started.
func (g *given) startedRuns() (ids []job.RunID) {
	e := g.ended(seconds)
	g.want(e, job.StatusSucceeded, "")
	if err := json.Unmarshal(e.Result, &ids); err != nil {
		g.failf("the result is %s, want ids of runs", e.Result)
	}
	for _, h := range g.requests() {
		g.fit("start", "the request to start a run", h.data)
		if token, ack := h.header.Get(bus.HeaderToken), h.header.Get(bus.HeaderAck); token != g.token || ack != g.ack {
			g.failf("%s is %q and %s is %q, want %q and %q", bus.HeaderToken, token, bus.HeaderAck, ack, g.token, g.ack)
		}
	}
	return ids
}
